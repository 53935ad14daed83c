import { eq, sql } from 'drizzle-orm';
import { type Executor, prepared } from '../../db/client.ts';
import { paymentEvents as event, paymentKnownPrices, paymentSubscriptions } from '../../db/schema/billing.ts';
import type { KnownPrice } from '../plans/match-tier.ts';
import { fields } from './fields.ts';
import type { StateEvent } from './projection.ts';

export type SubscriptionRow = typeof paymentSubscriptions.$inferSelect;

/** Everything from which a subscription's row is computed. */
export type Facts = {
  /** The row as it is stored; null if there is none. */
  row: SubscriptionRow | null;
  events: StateEvent[];
  prices: KnownPrice[];
};

/** An event that this transaction stores, so that its payload is not read back and not parsed again. */
type Parsed = Omit<StateEvent, 'number'>;

/**
 * Reads what decides a subscription's row, in one round trip. The caller holds the lock of the
 * organisation's row, or has sent the statement that takes it before. `settledNumber` is the one
 * that the caller is about to store, if it differs from the row's.
 */
export async function readFacts(
  db: Executor,
  subscriptionId: string,
  { parsed, settledNumber = null }: { parsed?: Parsed; settledNumber?: number | null },
): Promise<Facts> {
  const [[row = null], events, prices] = await Promise.all([
    subscriptionRow(db).execute({ subscriptionId }),
    readStateEvents(db, subscriptionId, settledNumber, parsed),
    knownPrices(db).execute(),
  ]);
  return { row, events, prices };
}

/**
 * Reads the few events of a subscription that can affect its projection: the ended ones, those
 * of the newest second and, for a run of failed payments, those of the second before the run
 * and the run's first event. Without `settledNumber` the row's own is taken.
 */
export async function readStateEvents(
  db: Executor,
  subscriptionId: string,
  settledNumber: number | null,
  parsed?: Parsed,
): Promise<StateEvent[]> {
  const rows = await decidingEvents(db).execute({ subscriptionId, settledNumber, parsedId: parsed?.id ?? null });
  const distinct = new Map(rows.map((row) => [row.id, row])).values();
  return [...distinct].map(({ id, number, created, payload }) =>
    parsed !== undefined && payload === null
      ? { ...parsed, number }
      : { id, number, created, ...readChange(payload ?? '{}') },
  );
}

function readChange(payload: string): Pick<StateEvent, 'object' | 'previous'> {
  const data = fields(fields(JSON.parse(payload))?.data);
  return { object: fields(data?.object) ?? {}, previous: fields(data?.previous_attributes) };
}

const ofSubscription = sql`${event.subscriptionId} = ${sql.placeholder('subscriptionId')} and ${event.statusClass} is not null`;

const newestSecond = sql`(select max(${event.created}) from ${event} where ${ofSubscription})`;

/** The newest second with an event that is neither past due nor ended; -1 if there is none. */
const brokenSecond = sql`(select coalesce(max(${event.created}), -1) from ${event} where ${ofSubscription} and ${event.statusClass} = 'other')`;

const settledNumber = sql`coalesce(${sql.placeholder('settledNumber')}::bigint, (select ${paymentSubscriptions.settledNumber}
  from ${paymentSubscriptions} where ${paymentSubscriptions.id} = ${sql.placeholder('subscriptionId')}), 0)`;

const decidingEvents = prepared((db) => {
  const columns = {
    id: event.id,
    number: event.number,
    created: event.created,
    payload: sql<
      string | null
    >`case when ${event.id} is distinct from ${sql.placeholder('parsedId')}::text then ${event.payload} end`,
  };
  const newest = db.select(columns).from(event).where(sql`${ofSubscription} and ${event.created} = ${newestSecond}`);
  const ended = db.select(columns).from(event).where(sql`${ofSubscription} and ${event.statusClass} = 'ended'`);
  const broken = db.select(columns).from(event).where(sql`${ofSubscription} and ${event.created} = ${brokenSecond}`);
  const firstPastDue = db
    .select(columns)
    .from(event)
    .where(
      sql`${ofSubscription} and ${event.statusClass} = 'past_due' and ${event.created} > ${brokenSecond}
        and ${event.number} > ${settledNumber}`,
    )
    .orderBy(event.created, event.id)
    .limit(1);
  return newest.unionAll(ended).unionAll(broken).unionAll(firstPastDue).prepare('payment_events_deciding');
});

const subscriptionRow = prepared((db) =>
  db
    .select()
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, sql.placeholder('subscriptionId')))
    .prepare('payment_subscription'),
);

const knownPrices = prepared((db) =>
  db
    .select({
      priceId: paymentKnownPrices.priceId,
      productId: paymentKnownPrices.productId,
      tier: paymentKnownPrices.tier,
    })
    .from(paymentKnownPrices)
    .prepare('payment_known_prices'),
);
