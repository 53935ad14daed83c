/** The form in which a password is counted, hashed and compared: NFKC, never trimmed. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** The form in which passwords are compared with words that they must not be. */
export function foldPassword(password: string): string {
  return normalisePassword(password).toLowerCase();
}
