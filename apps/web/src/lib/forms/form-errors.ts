/** The error that a failed form action returns to its page: the body of the JSON endpoints. */
export interface FormFailure {
  error: string;
  code?: string;
  fields?: Record<string, string>;
  /** The session ended while the form was filled in. */
  signedOut?: boolean;
  /** Another user has signed in since the page was rendered: NoticeRegion shows it. */
  otherUser?: boolean;
}

/** The error's sentences for the summary: one for each field, or the one for the whole form. */
export function sentences(failure: FormFailure): { field: string | null; text: string }[] {
  const fields = Object.entries(failure.fields ?? {});
  if (fields.length === 0) return [{ field: null, text: failure.error }];
  return fields.map(([field, text]) => ({ field, text }));
}
