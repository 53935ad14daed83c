import { and, eq, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../platform/db/in-steps.ts';
import {
  paymentEvents as event,
  paymentCheckouts,
  paymentInvoices,
  paymentLeases,
} from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';

/** The provider lists an event as undelivered, and sends it again, for 30 days: a deleted one would count as new. */
const sentAgainDays = 31;
const payloadDays = 90;
const batchSize = 1000;

/**
 * Deletes events that are older than RETENTION_DAYS, and 31 days at least, settled invoices of which no late problem can
 * come any more, and old checkouts and leases. Nothing is computed from them.
 */
export async function deleteOldEvents(app: App): Promise<void> {
  const before = daysAgo(app, Math.max(app.config.retentionDays, sentAgainDays));
  await deleteInSteps(app.db, paymentCheckouts, lt(paymentCheckouts.closedAt, before));
  await deleteInSteps(app.db, paymentLeases, sql`${paymentLeases.endsAt} < clock_timestamp() - interval '1 day'`);
  const settledBefore = Math.floor(daysAgo(app, sentAgainDays).getTime() / 1000);
  await deleteInSteps(
    app.db,
    paymentInvoices,
    and(eq(paymentInvoices.settled, true), lt(paymentInvoices.notedAt, settledBefore)),
  );
  await deleteInSteps(app.db, event, lt(event.receivedAt, before));
}

/**
 * Drops the payloads of events that are older than 90 days, or than RETENTION_DAYS if that is less; those of no
 * organisation after a day, because they may name a user who was erased. Returns how many it dropped.
 */
export async function dropOldPayloads(app: App): Promise<number> {
  const before = daysAgo(app, Math.min(payloadDays, app.config.retentionDays));
  const isOld = or(
    lt(event.receivedAt, before),
    and(isNull(event.organisationId), lt(event.receivedAt, daysAgo(app, 1))),
  );
  for (let count = 0; ; ) {
    const some = app.db
      .select({ id: event.id })
      .from(event)
      .where(and(isNotNull(event.payload), isOld))
      .limit(batchSize)
      .for('update', { skipLocked: true });
    const dropped = await app.db
      .update(event)
      .set({ payload: null })
      .where(sql`${event.id} in ${some}`)
      .returning({ id: event.id });
    count += dropped.length;
    if (dropped.length < batchSize) return count;
  }
}

function daysAgo(app: App, days: number): Date {
  return new Date(app.now().getTime() - days * dayMilliseconds);
}
