import { and, lt, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents as event, paymentCheckouts, paymentLeases } from '../../db/schema/billing.ts';
import { invoiceClosedTypes, invoiceProblemTypes } from './event-handlers.ts';

const dayMilliseconds = 86_400_000;
const batchSize = 5000;

/**
 * Removes from the ledger what is older than RETENTION_DAYS and decides nothing any more.
 * The projections of all subscriptions and the open payment problems stay as they are.
 * Says how many events went.
 */
export async function deleteOldEvents(app: App): Promise<number> {
  const before = new Date(app.now().getTime() - app.config.retentionDays * dayMilliseconds);
  await app.db.delete(paymentCheckouts).where(lt(paymentCheckouts.closedAt, before));
  await app.db.delete(paymentLeases).where(sql`${paymentLeases.endsAt} < clock_timestamp() - interval '1 day'`);

  for (let swept = 0; ; ) {
    const old = app.db
      .select({ id: event.id })
      .from(event)
      .where(and(lt(event.receivedAt, before), decidesNothing))
      .limit(batchSize);
    const gone = await app.db.delete(event).where(sql`${event.id} in ${old}`).returning({ id: event.id });
    swept += gone.length;
    if (gone.length < batchSize) return swept;
  }
}

/** Since the newest event that is not past due: the newest second, and a whole run of failed payments. */
const sinceLastStanding = sql`${event.created} >= coalesce((
  select max(told.created) from payment_events as told
  where told.subscription_id = ${event.subscriptionId} and told.status_class = 'other'), -1)`;

function hasOther(types: string[]) {
  return sql`exists (select 1 from payment_events as other
    where other.invoice_id = ${event.invoiceId} and other.handled and other.type in ${types})`;
}

const decidesNothing = sql`${event.statusClass} is distinct from 'ended'
  and not (${event.statusClass} is not null and ${sinceLastStanding})
  and not (${event.handled} and ${event.type} in ${invoiceProblemTypes} and not ${hasOther(invoiceClosedTypes)})
  and not (${event.handled} and ${event.type} in ${invoiceClosedTypes} and ${hasOther(invoiceProblemTypes)})`;
