declare const normalised: unique symbol;

/** A password in the form in which it is counted, hashed and compared. Only `normalisePassword` returns one. */
export type Password = string & { readonly [normalised]: true };

/** Returns the form of a password: NFKC, never trimmed. */
export function normalisePassword(typed: string): Password {
  return typed.normalize('NFKC') as Password;
}

/** Returns the form in which a word is compared with a password in lower case. */
export function foldWord(word: string): string {
  return normalisePassword(word).toLowerCase();
}
