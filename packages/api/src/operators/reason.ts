import { freeLine } from '../platform/security/text.ts';

/** The schema of an operator's reason for an action. The audit entry shows it to other operators. */
export const optionalReason = freeLine(300)
  .optional()
  .transform((reason) => reason || undefined);

/** The details of an audit entry with a reason. */
export function reasonDetails(reason: string | undefined): { details?: Record<string, string> } {
  return reason === undefined ? {} : { details: { reason } };
}
