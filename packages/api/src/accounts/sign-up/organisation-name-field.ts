import { oneLine } from '../../security/text.ts';

/** An organisation's name in a body: at most 100 characters; empty and absent are null. */
export const organisationNameField = oneLine(100)
  .nullish()
  .transform((name) => name || null);
