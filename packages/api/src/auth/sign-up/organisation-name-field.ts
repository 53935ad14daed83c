import { oneLine } from '../../platform/security/text.ts';

/** The schema of an organisation's name in a request body: at most 100 characters; empty and absent are null. */
export const organisationNameField = oneLine(100)
  .nullish()
  .transform((name) => name || null);
