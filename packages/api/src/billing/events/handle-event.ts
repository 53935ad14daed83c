import { and, eq, getTableColumns, inArray, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Executor, prepared, type Transaction } from '../../db/client.ts';
import { paymentCheckouts, paymentCustomers, paymentSubscriptions } from '../../db/schema/billing.ts';
import { organisations } from '../../db/schema/organisations.ts';
import type { SendLast } from '../../db/send-with-commit.ts';
import { requestPriceLookUp } from '../prices/request-look-up.ts';
import { textOf } from '../projection/fields.ts';
import type { Facts, SubscriptionRow } from '../projection/read-facts.ts';
import { type Computed, followRecomputed, type Recomputed, recompute } from '../projection/recompute.ts';
import type { SubscriptionState } from '../projection/subscription-state.ts';
import type { HandlerName } from './event-handlers.ts';
import { applied, type EventOutcome, eventOutcomes } from './event-outcome.ts';
import type { PaymentEvent, Subject } from './parse-event.ts';

type Stored = {
  event: PaymentEvent;
  handler: HandlerName;
  /** The subscription that an event of the handler `state` shows; null if it cannot be read. */
  state: SubscriptionState | null;
  subject: Subject;
  /** The organisation whose row is locked; null if the event concerns none of ours. */
  organisationId: string | null;
  number: number;
  /** What decides the row of that subscription, this event included; null without `state`. */
  facts: Facts | null;
  /** Sends the last statement of the transaction. */
  sendLast: SendLast;
};

type Ours = Stored & { organisationId: string };

/** The outcome, and the subscription about which the provider is to be asked after the commit. */
type Handled = { outcome: EventOutcome; toSync: string | null };

/** Runs the handler of a stored event. */
export async function handleEvent(app: App, tx: Transaction, stored: Stored): Promise<Handled> {
  if (stored.handler === 'prices') return only(await requestPriceLookUp(app, tx, stored.event));
  if (stored.organisationId === null) return only(await handleForeignEvent(tx, stored));

  const ours = { ...stored, organisationId: stored.organisationId };
  switch (stored.handler) {
    case 'checkout_completed':
      return completeCheckout(app, tx, ours);
    case 'checkout_closed':
      return only(await closeCheckout(app, tx, ours, applied));
    case 'checkout_failed':
      return only(await closeCheckout(app, tx, ours, eventOutcomes.noted));
    case 'state':
      return handleState(app, tx, ours);
    case 'invoice_settled':
    case 'invoice_problem':
      return ours.subject.subscriptionId === null ? only(applied) : markForSync(tx, ours);
    case 'note':
      return only(eventOutcomes.noted);
    case 'customer_gone':
      return only(await handleCustomerDeleted(app, tx, ours));
  }
}

function only(outcome: EventOutcome): Handled {
  return { outcome, toSync: null };
}

/** Handles an event of a customer that is not ours; it is flagged if its metadata name an organisation. */
async function handleForeignEvent(tx: Transaction, { event, subject }: Stored): Promise<EventOutcome> {
  // A dispute names no customer, and operators have to see each one.
  if (event.type === 'charge.dispute.created') return eventOutcomes.noted;
  if (subject.claims.length === 0) return eventOutcomes.not_ours;

  const ids = subject.claims.filter((claim) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(claim));
  const known = await tx.select({ id: organisations.id }).from(organisations).where(inArray(organisations.id, ids));
  return known.length > 0 ? eventOutcomes.contradiction : eventOutcomes.unknown_organisation;
}

/** Links organisation, customer and subscription. It gives no plan: the sync that follows does. */
async function completeCheckout(app: App, tx: Transaction, ours: Ours): Promise<Handled> {
  const { organisationId, subject } = ours;
  if (subject.claims.length < 2 || subject.claims.some((claim) => claim !== organisationId)) {
    return only(eventOutcomes.contradiction);
  }
  await closeCheckout(app, tx, ours, applied);
  return subject.subscriptionId === null ? only(applied) : markForSync(tx, ours);
}

async function closeCheckout(app: App, tx: Transaction, ours: Ours, outcome: EventOutcome): Promise<EventOutcome> {
  const open = and(
    eq(paymentCheckouts.id, textOf(ours.event.object.id) ?? ''),
    eq(paymentCheckouts.organisationId, ours.organisationId),
    isNull(paymentCheckouts.closedAt),
  );
  await tx.update(paymentCheckouts).set({ closedAt: app.now() }).where(open);
  return outcome;
}

/** Marks the customer deleted and syncs its live subscriptions, because the events of their ends may be lost. */
async function handleCustomerDeleted(
  app: App,
  tx: Transaction,
  { organisationId, subject, number }: Ours,
): Promise<EventOutcome> {
  const customerId = subject.customerId ?? '';
  const current = and(eq(paymentCustomers.customerId, customerId), isNull(paymentCustomers.goneAt));
  await tx.update(paymentCustomers).set({ goneAt: app.now() }).where(current);

  const theirs = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.customerId, customerId),
  );
  const live = await tx
    .update(paymentSubscriptions)
    // The number keeps the answer to an earlier request from removing the mark.
    .set({ needsSync: true, lastEventNumber: sql`greatest(${paymentSubscriptions.lastEventNumber}, ${number})` })
    .where(and(theirs, eq(paymentSubscriptions.ended, false)))
    .returning({ id: paymentSubscriptions.id });
  for (const { id } of live) await app.jobs.send(tx, 'payment-sync', { subscriptionId: id }, { key: id });
  return applied;
}

/**
 * Writes the row that the stored events show. A subscription never changes its customer: an event
 * that says so is a contradiction.
 */
async function handleState(app: App, tx: Transaction, ours: Ours): Promise<Handled> {
  const { state, facts, organisationId, event, sendLast } = ours;
  if (state === null || facts === null) return only(eventOutcomes.unreadable);
  if (facts.row !== null && facts.row.customerId !== state.customerId) return only(eventOutcomes.contradiction);
  const recomputed = recompute(app, facts);
  if (recomputed === null) return markForSync(tx, ours);

  const written = stateUpsert(tx).execute({ ...keysOf(ours), ...valuesOf(recomputed.columns) });
  if (facts.row !== null && isConfirmed(facts.row, { organisationId, livemode: event.livemode }, recomputed)) {
    // The lock of the organisation keeps this row as it was read, so the statement finds it.
    await sendLast(written);
    return { outcome: applied, toSync: state.id };
  }

  const [row] = await written;
  if (row === undefined) return only(eventOutcomes.contradiction);
  await followRecomputed(app, tx, organisationId, facts.row ?? unknownRow, recomputed);
  return { outcome: applied, toSync: state.id };
}

/** Whether a computed row is the stored one but for its marks: then nothing follows from it. */
function isConfirmed(
  row: SubscriptionRow,
  ours: Pick<SubscriptionRow, 'organisationId' | 'livemode'>,
  { columns, newPrice }: Recomputed,
): boolean {
  const stored: Record<string, unknown> = row;
  const isSame = ([name, value]: [string, unknown]) => plain(value) === plain(stored[name]);
  return newPrice === null && Object.entries({ ...ours, ...columns }).every(isSame);
}

const unknownRow = { status: null, tier: null, ended: false };

/** Inserts or marks the row of a subscription whose state the event does not show. */
async function markForSync(tx: Transaction, ours: Ours): Promise<Handled> {
  const { customerId, subscriptionId } = ours.subject;
  if (customerId === null || subscriptionId === null) return only(eventOutcomes.unreadable);

  const [row] = await mark(tx).execute(keysOf(ours));
  return row === undefined ? only(eventOutcomes.contradiction) : { outcome: applied, toSync: subscriptionId };
}

function keysOf({ organisationId, subject, event, number }: Ours) {
  return {
    id: subject.subscriptionId,
    organisationId,
    customerId: subject.customerId,
    livemode: event.livemode,
    number,
  };
}

const mark = prepared((db) => upsert(db, {}).prepare('payment_subscription_mark'));

const stateUpsert = prepared((db) => upsert(db, computedColumns).prepare('payment_subscription_state'));

/** Casts from text, because drizzle's own encoder of times fails on null. */
function time(name: keyof Computed) {
  return sql`${sql.placeholder(name)}::timestamptz`;
}

const computedColumns = {
  status: sql.placeholder('status'),
  ended: sql.placeholder('ended'),
  tier: sql.placeholder('tier'),
  tierSource: sql.placeholder('tierSource'),
  priceId: sql.placeholder('priceId'),
  cancelAtPeriodEnd: sql.placeholder('cancelAtPeriodEnd'),
  currentPeriodEnd: time('currentPeriodEnd'),
  endsAt: time('endsAt'),
  startedAt: time('startedAt'),
  pastDueSince: time('pastDueSince'),
} satisfies Record<keyof Computed, unknown>;

function valuesOf(columns: Computed) {
  const written = Object.entries(columns).map(([name, value]) => [name, plain(value)]);
  return Object.fromEntries(written) as Record<keyof Computed, unknown>;
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
      livemode: sql.placeholder('livemode'),
      lastEventNumber: sql.placeholder('number'),
      needsSync: true,
      ...columns,
    })
    .onConflictDoUpdate({
      target: paymentSubscriptions.id,
      set: {
        // An event that is applied again keeps its old number.
        lastEventNumber: sql`greatest(${paymentSubscriptions.lastEventNumber}, excluded.last_event_number)`,
        livemode: sql`excluded.livemode`,
        needsSync: true,
        ...Object.fromEntries(computed),
      },
      setWhere: sql`${paymentSubscriptions.organisationId} = excluded.organisation_id
        and ${paymentSubscriptions.customerId} = excluded.customer_id`,
    })
    .returning({ id: paymentSubscriptions.id });
}
