import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared, type Transaction } from '../../db/client.ts';
import { paymentCheckouts, paymentCustomers, paymentSubscriptions } from '../../db/schema/billing.ts';
import { organisations } from '../../db/schema/organisations.ts';
import { requestPriceLookUp } from '../prices/request-look-up.ts';
import { textOf } from '../projection/fields.ts';
import { recompute } from '../projection/recompute.ts';
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
};

type Ours = Stored & { organisationId: string };

/** Runs the handler of a stored event and returns its outcome. */
export async function handleEvent(app: App, tx: Transaction, stored: Stored): Promise<EventOutcome> {
  if (stored.handler === 'prices') return requestPriceLookUp(app, tx, stored.event);
  if (stored.organisationId === null) return handleForeignEvent(tx, stored);

  const ours = { ...stored, organisationId: stored.organisationId };
  switch (stored.handler) {
    case 'checkout_completed':
      return completeCheckout(app, tx, ours);
    case 'checkout_closed':
      return closeCheckout(app, tx, ours, applied);
    case 'checkout_failed':
      return closeCheckout(app, tx, ours, eventOutcomes.noted);
    case 'state':
      return handleState(app, tx, ours);
    case 'invoice_settled':
    case 'invoice_problem':
      return ours.subject.subscriptionId === null ? applied : upsertAndSync(app, tx, ours);
    case 'note':
      return eventOutcomes.noted;
    case 'customer_gone':
      return handleCustomerDeleted(app, tx, ours);
  }
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
async function completeCheckout(app: App, tx: Transaction, ours: Ours): Promise<EventOutcome> {
  const { organisationId, subject } = ours;
  if (subject.claims.length < 2 || subject.claims.some((claim) => claim !== organisationId)) {
    return eventOutcomes.contradiction;
  }
  await closeCheckout(app, tx, ours, applied);
  return subject.subscriptionId === null ? applied : upsertAndSync(app, tx, ours);
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
  { organisationId, subject }: Ours,
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
    .set({ needsSync: true })
    .where(and(theirs, eq(paymentSubscriptions.ended, false)))
    .returning({ id: paymentSubscriptions.id });
  for (const { id } of live) await app.jobs.send(tx, 'payment-sync', { subscriptionId: id }, { key: id });
  return applied;
}

async function handleState(app: App, tx: Transaction, ours: Ours): Promise<EventOutcome> {
  const { event, state, number } = ours;
  if (state === null) return eventOutcomes.unreadable;
  return upsertAndSync(app, tx, ours, (row) => recompute(app, tx, row, { ...event, number, state }));
}

type SubscriptionRow = typeof paymentSubscriptions.$inferSelect;

/**
 * Inserts or updates the subscription's row and enqueues a sync for after the commit. A
 * subscription never changes its customer: an event that says so is a contradiction.
 */
async function upsertAndSync(
  app: App,
  tx: Transaction,
  ours: Ours,
  then?: (row: SubscriptionRow) => Promise<void>,
): Promise<EventOutcome> {
  const { organisationId, subject, number } = ours;
  const { customerId, subscriptionId: id } = subject;
  if (customerId === null || id === null) return eventOutcomes.unreadable;

  const [row] = await subscriptionUpsert(tx).execute({
    id,
    organisationId,
    customerId,
    livemode: ours.event.livemode,
    number,
  });
  if (row === undefined) return eventOutcomes.contradiction;
  await then?.(row);
  await app.jobs.send(tx, 'payment-sync', { subscriptionId: id }, { key: id });
  return applied;
}

const subscriptionUpsert = prepared((db) =>
  db
    .insert(paymentSubscriptions)
    .values({
      id: sql.placeholder('id'),
      organisationId: sql.placeholder('organisationId'),
      customerId: sql.placeholder('customerId'),
      livemode: sql.placeholder('livemode'),
      lastEventNumber: sql.placeholder('number'),
      needsSync: true,
    })
    .onConflictDoUpdate({
      target: paymentSubscriptions.id,
      set: {
        // An event that is applied again keeps its old number.
        lastEventNumber: sql`greatest(${paymentSubscriptions.lastEventNumber}, excluded.last_event_number)`,
        livemode: sql`excluded.livemode`,
        needsSync: true,
      },
      setWhere: sql`${paymentSubscriptions.organisationId} = excluded.organisation_id
        and ${paymentSubscriptions.customerId} = excluded.customer_id`,
    })
    .returning()
    .prepare('payment_subscription_touch'),
);
