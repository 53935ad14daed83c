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

/** The error's sentences for the summary: one for each field, or the one for the whole form. */
export function sentences(failure: FormFailure): { field: string | null; text: string }[] {
  const fields = Object.entries(failure.fields ?? {});
  if (fields.length === 0) return [{ field: null, text: failure.error }];
  return fields.map(([field, text]) => ({ field, text }));
}
