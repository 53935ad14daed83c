import { announce, change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, Dispute } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';
import { newDispute } from './new-dispute.ts';

/** How a dispute can end. An inquiry ends with `warning_closed`, and `prevented` ends one before it costs anything. */
export const disputeEnds = ['won', 'lost', 'warning_closed', 'prevented'] as const;
export type DisputeEnd = (typeof disputeEnds)[number];

/**
 * Opens a dispute of a charge: the bank takes the amount back at once. With `inquiry` the bank only
 * asks. The invoice stays paid and the subscription is not changed, as at the real provider.
 *
 * @throws ApiError if the charge is disputed already.
 */
export function openDispute(
  provider: Provider,
  charge: Charge,
  { reason = 'fraudulent', inquiry = false }: { reason?: string; inquiry?: boolean } = {},
): Dispute {
  if (charge.disputed) throw refused(`The charge ${charge.id} is disputed already.`);
  const dispute = newDispute(provider, charge, reason, inquiry);
  provider.state.disputes[dispute.id] = dispute;
  charge.disputed = true;
  announce(provider, 'charge.dispute.created', dispute);
  if (!inquiry) announce(provider, 'charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/**
 * Submits the evidence, which the bank then reviews. As in the real provider's test mode, the texts
 * `winning_evidence` and `losing_evidence` decide at once.
 *
 * @throws ApiError if the dispute is closed.
 */
export function submitEvidence(provider: Provider, dispute: Dispute): Dispute {
  requireOpen(dispute);
  change(provider, 'charge.dispute.updated', dispute, () => {
    dispute.status = isInquiry(dispute) ? 'warning_under_review' : 'under_review';
    dispute.evidence_details.has_evidence = true;
    dispute.evidence_details.submission_count += 1;
    dispute.evidence_details.submission_method = 'manual';
  });
  const { uncategorized_text: text } = dispute.evidence;
  if (text === 'winning_evidence') closeDispute(provider, dispute, 'won');
  if (text === 'losing_evidence') closeDispute(provider, dispute, 'lost');
  return dispute;
}

/**
 * Closes a dispute. One that is won gives the amount back.
 *
 * @throws ApiError if it is closed, or if only an inquiry can end in this way.
 */
export function closeDispute(provider: Provider, dispute: Dispute, end: DisputeEnd): Dispute {
  requireOpen(dispute);
  const inquiry = isInquiry(dispute);
  if (inquiry !== (end === 'warning_closed') && end !== 'prevented') {
    throw refused(`A dispute with the status \`${dispute.status}\` cannot be closed as ${end}.`);
  }
  change(provider, 'charge.dispute.closed', dispute, () => {
    dispute.status = end;
  });
  if (!inquiry && end !== 'lost') announce(provider, 'charge.dispute.funds_reinstated', dispute);
  const charge = provider.state.charges[dispute.charge];
  if (charge && end === 'warning_closed') charge.disputed = false;
  return dispute;
}

function requireOpen(dispute: Dispute): void {
  if (!(disputeEnds as readonly string[]).includes(dispute.status)) return;
  throw refused(`The dispute ${dispute.id} is closed.`, { code: 'dispute_closed' });
}

function isInquiry({ status }: Dispute): boolean {
  return status.startsWith('warning_');
}
