import { eq, getTableColumns, sql } from 'drizzle-orm';
import { type Executor, prepared, type Transaction } from '../../platform/db/client.ts';
import { paymentEvents as event, paymentKnownPrices, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { fields } from '../../platform/providers/untrusted-json.ts';
import type { ComputedColumns, KnownPrice, ProjectionInput, StateEvent, SubscriptionRow } from './projection.ts';
import type { EventClass } from './provider-objects.ts';

/** An event that this transaction stores, so that its payload is not read back and not parsed again. */
type NewEvent = Omit<StateEvent, 'number'>;

/**
 * Reads what decides a subscription's row, by one statement: the few events that can affect its projection are
 * the ended ones, those of the newest second and, for a run of failed payments, those of the second before the run
 * and the run's first event. The caller holds the lock of the organisation's row, or has sent the statement that
 * takes it before. `settledNumber` is the one that the caller is about to store, if it differs from the row's.
 */
export async function readProjectionInput(
  db: Executor,
  subscriptionId: string,
  { parsed, settledNumber = null }: { parsed?: NewEvent; settledNumber?: number | null },
): Promise<ProjectionInput> {
  const [found] = await factsOf(db).execute({ subscriptionId, settledNumber, parsedId: parsed?.id ?? null });
  const distinct = new Map((found?.events ?? []).map((row) => [row.id, row])).values();
  const events = [...distinct].map(({ id, number, created, payload }) =>
    parsed !== undefined && payload === null
      ? { ...parsed, number }
      : { id, number, created, ...readChange(payload ?? '{}') },
  );
  return { row: found?.row ?? null, events, prices: found?.prices ?? [] };
}

function readChange(payload: string): Pick<StateEvent, 'object' | 'previous'> {
  const data = fields(fields(JSON.parse(payload))?.data);
  return { object: fields(data?.object) ?? {}, previous: fields(data?.previous_attributes) };
}

const ofSubscription = sql`${event.subscriptionId} = ${sql.placeholder('subscriptionId')} and ${event.statusClass} is not null`;

const newestSecond = sql`(select max(${event.created}) from ${event} where ${ofSubscription})`;

function newestOf(eventClass: EventClass) {
  return sql`(select max(${event.created}) from ${event} where ${ofSubscription} and ${event.statusClass} = ${sql.raw(`'${eventClass}'`)})`;
}

/** The newest second with an event of neither past due nor an end, before or after its change; -1 if there is none. */
const brokenSecond = sql`coalesce(greatest(${newestOf('other')}, ${newestOf('past_due_begins')}), -1)`;

const settledNumber = sql`coalesce(${sql.placeholder('settledNumber')}::bigint, (select ${paymentSubscriptions.settledNumber}
  from ${paymentSubscriptions} where ${paymentSubscriptions.id} = ${sql.placeholder('subscriptionId')}), 0)`;

type StoredEvent = {
  id: string;
  number: number;
  created: number;
  /** Null for the event that the caller has parsed. */
  payload: string | null;
};

const found = sql`select ${event.id}, ${event.number}, ${event.created},
  case when ${event.id} is distinct from ${sql.placeholder('parsedId')}::text then ${event.payload} end as payload
  from ${event} where ${ofSubscription}`;

/** An event that is found for two reasons is in it twice. */
const decidingEvents = sql<StoredEvent[] | null>`(select json_agg(deciding) from (
  (${found} and ${event.created} = ${newestSecond})
  union all (${found} and ${event.statusClass} = 'ended')
  union all (${found} and ${event.created} = ${brokenSecond})
  union all (${found} and ${event.statusClass} = 'past_due' and ${event.created} > ${brokenSecond}
    and ${event.number} > ${settledNumber} order by ${event.created}, ${event.id} limit 1)
) as deciding)`;

const price = paymentKnownPrices;
const knownPrices = sql<KnownPrice[] | null>`(select json_agg(json_build_object(
  'priceId', ${price.priceId}, 'productId', ${price.productId}, 'tier', ${price.tier})) from ${price})`;

const factsOf = prepared((db) =>
  db
    .select({ row: paymentSubscriptions, events: decidingEvents, prices: knownPrices })
    .from(sql`(select 1) as one`)
    .leftJoin(paymentSubscriptions, eq(paymentSubscriptions.id, sql.placeholder('subscriptionId')))
    .prepare('payment_facts'),
);

type RowBefore = {
  row: SubscriptionRow;
  /** The version of the row, which each write changes. */
  version: string;
  prices: KnownPrice[];
};

/**
 * Reads a subscription's row before a new event that is later than all that are stored. Null for any other event,
 * and without a row. A caller that writes only this version of the row needs no lock.
 */
export async function readRowBefore(
  db: Executor,
  subscriptionId: string,
  { id, created }: Pick<StateEvent, 'id' | 'created'>,
): Promise<RowBefore | null> {
  const [found] = await rowBefore(db).execute({ subscriptionId, eventId: id, created });
  if (found === undefined || !found.isLast) return null;
  return { ...found, prices: found.prices ?? [] };
}

const isLast = sql<boolean>`not exists (select from ${event} where ${event.id} = ${sql.placeholder('eventId')})
  and not exists (select from ${event} where ${ofSubscription} and ${event.created} >= ${sql.placeholder('created')})`;

const rowBefore = prepared((db) =>
  db
    .select({
      row: getTableColumns(paymentSubscriptions),
      version: sql<string>`${paymentSubscriptions}.xmin::text`,
      prices: knownPrices,
      isLast,
    })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, sql.placeholder('subscriptionId')))
    .prepare('payment_row_before'),
);

/** Whether a computed row is the stored one, apart from its marks. */
export function isSameRow(row: SubscriptionRow, computed: Partial<SubscriptionRow>): boolean {
  const stored: Record<string, unknown> = row;
  return Object.entries(computed).every(([name, value]) => plain(value) === plain(stored[name]));
}

/** What identifies a row, and the number of the event that is its last one. */
type RowKeys = { id: string; organisationId: string; customerId: string; number: number };

/**
 * Inserts or updates a subscription's row and marks it for a sync. Returns false and changes nothing if the
 * row belongs to another organisation or customer.
 */
export async function upsertState(tx: Transaction, keys: RowKeys, columns: ComputedColumns): Promise<boolean> {
  const rows = await stateUpsert(tx).execute({ ...keys, ...valuesOf(columns) });
  return rows.length > 0;
}

/**
 * Inserts a subscription's row without its state, or leaves the state of an existing row, and marks it for a sync.
 * Returns false and changes nothing if the row belongs to another organisation or customer.
 */
export async function upsertMark(tx: Transaction, keys: RowKeys): Promise<boolean> {
  const rows = await mark(tx).execute(keys);
  return rows.length > 0;
}

const mark = prepared((db) => upsert(db, {}).prepare('payment_subscription_mark'));

const stateUpsert = prepared((db) => upsert(db, computedColumns).prepare('payment_subscription_state'));

/** Casts from text, because drizzle's own encoder of times fails on null. */
function time(name: keyof ComputedColumns) {
  return sql`${sql.placeholder(name)}::timestamptz`;
}

const computedColumns = {
  status: sql.placeholder('status'),
  ended: sql.placeholder('ended'),
  tier: sql.placeholder('tier'),
  tierSource: sql.placeholder('tierSource'),
  priceId: sql.placeholder('priceId'),
  cancelAtPeriodEnd: sql.placeholder('cancelAtPeriodEnd'),
  currentPeriodStart: time('currentPeriodStart'),
  currentPeriodEnd: time('currentPeriodEnd'),
  endsAt: time('endsAt'),
  startedAt: time('startedAt'),
  pastDueSince: time('pastDueSince'),
} satisfies Record<keyof ComputedColumns, unknown>;

/** The statement's assignments of the computed columns, for an update; `valuesOf` gives their values. */
export const computedAssignments = sql.join(
  Object.entries(computedColumns).map(
    ([name, value]) =>
      sql`${sql.identifier(getTableColumns(paymentSubscriptions)[name as keyof ComputedColumns].name)} = ${value}`,
  ),
  sql`, `,
);

export function valuesOf(columns: ComputedColumns) {
  const written = Object.entries(columns).map(([name, value]) => [name, plain(value)]);
  return Object.fromEntries(written) as Record<keyof ComputedColumns, unknown>;
}

function plain(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

function upsert(db: Executor, columns: Partial<typeof computedColumns>) {
  const table = getTableColumns(paymentSubscriptions);
  const computed = Object.keys(columns).map((name) => [
    name,
    sql`excluded.${sql.identifier(table[name as keyof typeof table].name)}`,
  ]);
  return db
    .insert(paymentSubscriptions)
    .values({
      id: sql.placeholder('id'),
      organisationId: sql.placeholder('organisationId'),
      customerId: sql.placeholder('customerId'),
      lastEventNumber: sql.placeholder('number'),
      needsSync: true,
      ...columns,
    })
    .onConflictDoUpdate({
      target: paymentSubscriptions.id,
      set: {
        // An event that is applied again keeps its old number.
        lastEventNumber: sql`greatest(${paymentSubscriptions.lastEventNumber}, excluded.last_event_number)`,
        needsSync: true,
        ...Object.fromEntries(computed),
      },
      setWhere: sql`${paymentSubscriptions.organisationId} = excluded.organisation_id
        and ${paymentSubscriptions.customerId} = excluded.customer_id`,
    })
    .returning({ id: paymentSubscriptions.id });
}
