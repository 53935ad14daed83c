import { and, lt, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../db/delete-in-steps.ts';
import { paymentEvents as event, paymentCheckouts, paymentLeases } from '../../db/schema/billing.ts';
import { invoiceClosedTypes, invoiceProblemTypes } from './event-handlers.ts';

const dayMilliseconds = 86_400_000;
/** The provider lists an event as undelivered, and sends it again, for 30 days: a deleted one would count as new. */
const sentAgainDays = 31;

/**
 * Deletes events that are older than RETENTION_DAYS, and 31 days at least, and no longer decide anything, and
 * old checkouts and leases. The projections of all subscriptions and the open payment problems do
 * not change. Returns how many events it deleted.
 */
export async function deleteOldEvents(app: App): Promise<number> {
  const keptDays = Math.max(app.config.retentionDays, sentAgainDays);
  const before = new Date(app.now().getTime() - keptDays * dayMilliseconds);
  await deleteInSteps(app.db, paymentCheckouts, lt(paymentCheckouts.closedAt, before));
  await deleteInSteps(app.db, paymentLeases, sql`${paymentLeases.endsAt} < clock_timestamp() - interval '1 day'`);
  return deleteInSteps(app.db, event, and(lt(event.receivedAt, before), decidesNothing));
}

/** Events since the newest state that is neither ended nor past due: they hold a whole run of failed payments. */
const isSinceLastOtherState = sql`${event.created} >= coalesce((
  select max(newest.created) from payment_events as newest
  where newest.subscription_id = ${event.subscriptionId} and newest.status_class = 'other'), -1)`;

function hasEventOfSameInvoice(types: string[]) {
  return sql`exists (select 1 from payment_events as other
    where other.invoice_id = ${event.invoiceId} and other.handled and other.type in ${types})`;
}

const decidesNothing = sql`${event.statusClass} is distinct from 'ended'
  and not (${event.statusClass} is not null and ${isSinceLastOtherState})
  and not (${event.handled} and ${event.type} in ${invoiceProblemTypes} and not ${hasEventOfSameInvoice(invoiceClosedTypes)})
  and not (${event.handled} and ${event.type} in ${invoiceClosedTypes} and ${hasEventOfSameInvoice(invoiceProblemTypes)})`;
