/** The error that a failed form action returns to its page: the body of the JSON endpoints. */
export interface FormFailure {
  error: string;
  code?: string;
  fields?: Record<string, string>;
  /** The session ended while the form was filled in. */
  signedOut?: boolean;
  /** The page was rendered for another user or organisation than the current one: NoticeRegion shows it. */
  outdated?: boolean;
}

/**
 * Whether the form has to ask for a fresh sign-in, or again: the password or the code is missing or wrong. An error of a
 * code names no field.
 */
export function asksForSignIn({ code, fields, signedOut }: FormFailure): boolean {
  if (fields?.password !== undefined) return true;
  return ['FRESH_SIGN_IN_REQUIRED', 'SECOND_FACTOR_REQUIRED', 'UNAUTHENTICATED'].includes(code ?? '') && !signedOut;
}

/** The error's sentences for the summary: one for each field, or the one for the whole form. */
export function sentences(failure: FormFailure): { field: string | null; text: string }[] {
  const fields = Object.entries(failure.fields ?? {});
  if (fields.length === 0) return [{ field: null, text: failure.error }];
  return fields.map(([field, text]) => ({ field, text }));
}
