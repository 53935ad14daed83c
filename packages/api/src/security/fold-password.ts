/** Returns the form in which a password is counted, hashed and compared: NFKC, never trimmed. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Returns the form in which a password is compared with forbidden words. */
export function foldPassword(password: string): string {
  return normalisePassword(password).toLowerCase();
}
