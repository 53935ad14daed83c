import { lt, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../platform/db/delete-in-steps.ts';
import { paymentEvents as event, paymentCheckouts, paymentLeases } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { invoiceProblemTypes, invoiceSettledTypes } from './event-handlers.ts';

/** The provider lists an event as undelivered, and sends it again, for 30 days: a deleted one would count as new. */
const sentAgainDays = 31;

/**
 * Deletes events that are older than RETENTION_DAYS, and 31 days at least, and no longer decide anything, and
 * old checkouts and leases. The projections of all subscriptions and the open payment problems do
 * not change. Reads each old event once, in pages, because those that still decide something stay. Returns how
 * many events it deleted.
 */
export async function deleteOldEvents(app: App, { pageSize = 5000 } = {}): Promise<number> {
  const keptDays = Math.max(app.config.retentionDays, sentAgainDays);
  const before = new Date(app.now().getTime() - keptDays * dayMilliseconds);
  await deleteInSteps(app.db, paymentCheckouts, lt(paymentCheckouts.closedAt, before));
  await deleteInSteps(app.db, paymentLeases, sql`${paymentLeases.endsAt} < clock_timestamp() - interval '1 day'`);

  let total = 0;
  for (let position: Position | null = start; position !== null; ) {
    const page: Page = await deletePage(app, { before, after: position, pageSize });
    total += page.deleted;
    position = page.last;
  }
  return total;
}

/** The position of an event by the time of its receipt, as PostgreSQL writes it: a Date has no microseconds. */
type Position = { receivedAt: string; id: string };
const start: Position = { receivedAt: '-infinity', id: '' };

/** `last` is null after the last page. */
type Page = { deleted: number; last: Position | null };

/** Leaves rows that another transaction has locked to the next run, as `deleteInSteps` does. */
async function deletePage(
  app: App,
  { before, after, pageSize }: { before: Date; after: Position; pageSize: number },
): Promise<Page> {
  const [last] = await app.db.execute<Position & { deleted: number; read: number }>(sql`
    with page as materialized (
      select id, received_at from ${event}
      where received_at < ${before.toISOString()}
        and (received_at, id) > (${after.receivedAt}::timestamptz, ${after.id})
      order by received_at, id limit ${pageSize}),
    deleted as (
      delete from ${event} where id = any(array(
        select id from ${event} where id in (select id from page) and ${decidesNothing} for update skip locked))
      returning id)
    select id, received_at::text as "receivedAt", (count(*) over ())::int as read,
      (select count(*)::int from deleted) as deleted
    from page order by received_at desc, page.id desc limit 1`);
  if (last === undefined) return { deleted: 0, last: null };
  return { deleted: last.deleted, last: last.read < pageSize ? null : last };
}

/** Events since the newest state that is neither ended nor past due: they hold a whole run of failed payments. */
const isSinceLastOtherState = sql`${event.created} >= coalesce((
  select max(newest.created) from payment_events as newest
  where newest.subscription_id = ${event.subscriptionId} and newest.status_class = 'other'), -1)`;

function hasEventOfSameInvoice(types: string[]) {
  return sql`exists (select 1 from payment_events as other
    where other.invoice_id = ${event.invoiceId} and other.handled and other.type in ${types})`;
}

const decidesNothing = sql`(${event.statusClass} is distinct from 'ended'
  and not (${event.statusClass} is not null and ${isSinceLastOtherState})
  and not (${event.handled} and ${event.type} in ${invoiceProblemTypes} and not ${hasEventOfSameInvoice(invoiceSettledTypes)})
  and not (${event.handled} and ${event.type} in ${invoiceSettledTypes} and ${hasEventOfSameInvoice(invoiceProblemTypes)}))`;
