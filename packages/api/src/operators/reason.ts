import { freeLine } from '../security/text.ts';

/** Why an operator does something, for other operators to read in the audit entry. */
export const optionalReason = freeLine(300)
  .optional()
  .transform((reason) => reason || undefined);

/** The details of an audit entry with a reason. */
export function reasonDetails(reason: string | undefined): { details?: Record<string, string> } {
  return reason === undefined ? {} : { details: { reason } };
}
