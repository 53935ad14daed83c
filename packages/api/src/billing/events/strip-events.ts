import { and, eq, inArray, isNull, lt, not, or, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentEvents as event } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { newToken } from '../../platform/security/token.ts';
import { invoiceProblemTypes, invoiceSettledTypes } from './event-handlers.ts';
import { createStripper } from './strip-payload.ts';

/** The provider sends an event again for 30 days, and disputes of a payment come within 120. */
const keptDays = 120;
const batchSize = 200;

/**
 * Strips the payloads of events that are older than 120 days, or than RETENTION_DAYS if that is
 * less; those of no organisation after a day. Events of an invoice that is still open keep theirs.
 * Returns how many events it stripped.
 */
export async function stripOldEvents(app: App): Promise<number> {
  const days = Math.min(keptDays, app.config.retentionDays);
  const before = new Date(app.now().getTime() - days * dayMilliseconds);
  const yesterday = new Date(app.now().getTime() - dayMilliseconds);
  // Events of customers that are not ours and of deleted organisations may name an erased user.
  const isUnowned = and(isNull(event.organisationId), lt(event.receivedAt, yesterday));
  for (let count = 0; ; ) {
    const stripped = await app.db.transaction((tx) =>
      stripEvents(app, tx, and(or(lt(event.receivedAt, before), isUnowned), not(isOpenProblem)), { limit: batchSize }),
    );
    count += stripped;
    if (stripped < batchSize) return count;
  }
}

/**
 * Strips the payloads of the events that match, and of those of the same subscription and second:
 * the projection compares the states of one second. No projection changes. Events that are stripped
 * already are left. Returns how many events it stripped.
 */
export async function stripEvents(
  app: App,
  tx: Transaction,
  which: SQL | undefined,
  { limit = null }: { limit?: number | null } = {},
): Promise<number> {
  const matching = tx
    .select({ id: event.id, subscriptionId: event.subscriptionId, created: event.created })
    .from(event)
    .where(and(isNull(event.strippedAt), which))
    .orderBy(event.receivedAt);
  const found = await (limit === null ? matching : matching.limit(limit));
  if (found.length === 0) return 0;

  const strippers = new Map(found.map((row) => [secondOf(row), createStripper(newToken().slice(0, 8))]));
  for (const row of await sameSeconds(tx, found)) {
    const strip = strippers.get(secondOf(row));
    if (strip === undefined) continue;
    await tx
      .update(event)
      .set({ payload: strip(row.payload, { keepsInvoicePage: row.isOpen }), strippedAt: row.isOpen ? null : app.now() })
      .where(eq(event.id, row.id));
  }
  return found.length;
}

type EventKeys = { id: string; subscriptionId: string | null; created: number };

/** Names the events whose states are compared with each other. */
function secondOf({ id, subscriptionId, created }: EventKeys): string {
  return subscriptionId === null ? id : `${subscriptionId} ${created}`;
}

/**
 * Locks and returns the events and those of the same seconds, in the order of their ids, so that concurrent
 * callers do not deadlock. Events of other seconds may be among them.
 */
function sameSeconds(tx: Transaction, found: EventKeys[]) {
  const ids = found.map(({ id }) => id);
  const subscriptionIds = found.flatMap(({ subscriptionId }) => subscriptionId ?? []);
  const seconds = found.map(({ created }) => created);
  const inThoseSeconds = and(inArray(event.subscriptionId, subscriptionIds), inArray(event.created, seconds));
  return tx
    .select({
      id: event.id,
      subscriptionId: event.subscriptionId,
      created: event.created,
      payload: event.payload,
      isOpen: sql<boolean>`${isOpenProblem}`,
    })
    .from(event)
    .where(and(isNull(event.strippedAt), or(inArray(event.id, ids), inThoseSeconds)))
    .orderBy(event.id)
    .for('update');
}

/** A payment problem of an invoice that no event reports as closed, while its organisation exists. */
const isOpenProblem = sql`(${event.handled} and ${event.type} in ${invoiceProblemTypes}
  and exists (select 1 from organisations where organisations.id = ${event.organisationId})
  and not exists (select 1 from payment_events as other
    where other.invoice_id = ${event.invoiceId} and other.handled and other.type in ${invoiceSettledTypes}))`;
