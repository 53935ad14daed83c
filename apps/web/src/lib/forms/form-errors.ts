/** What a failed form action hands back to its page: the JSON endpoint's own body, and what was typed. */
export interface FormFailure {
  error: string;
  code?: string;
  fields?: Record<string, string>;
}

/** The httpErrorOf's sentences for the summary: one for each field, else the one sentence of the whole. */
export function sentences(actionFailure: FormFailure): { field: string | null; text: string }[] {
  const fields = Object.entries(actionFailure.fields ?? {});
  if (fields.length === 0) return [{ field: null, text: actionFailure.error }];
  return fields.map(([field, text]) => ({ field, text }));
}
