import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared, type Transaction } from '../../platform/db/client.ts';
import { isUuid } from '../../platform/db/id.ts';
import { paymentCheckouts, paymentCustomers, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import {
  changesOfCustomer,
  type EventReferences,
  losesTax,
  type PaymentEvent,
  subscriptionBefore,
} from '../../platform/providers/payment/event.ts';
import type { SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { closeExpired } from '../actions/checkouts.ts';
import { requestPriceLookUp } from '../prices/live-prices.ts';
import { afterEvent, markedForSync } from '../subscription/newer-state.ts';
import { readColumns, readRows } from '../subscription/subscription-rows.ts';
import { writeRow } from '../subscription/write-row.ts';
import { applied, type EventOutcome, eventOutcomes } from './event-store.ts';
import { noteProblem, settleInvoice } from './invoice-problems.ts';

/** The handlers of the event types that we subscribe to. Events of other types are stored and change nothing. */
type HandlerName =
  | 'checkout_completed'
  | 'checkout_closed'
  | 'checkout_failed'
  | 'state'
  | 'invoice_settled'
  | 'invoice_problem'
  | 'schedule'
  | 'note'
  | 'money'
  | 'customer_changed'
  | 'customer_gone'
  | 'prices';

/** Returns the handler of an event type; null if the type changes nothing. */
export function handlerOf(type: string): HandlerName | null {
  if (type.startsWith('price.')) return 'prices';
  return handlers[type] ?? null;
}

const handlers: Record<string, HandlerName | undefined> = {
  __proto__: null as never,
  'checkout.session.completed': 'checkout_completed',
  'checkout.session.async_payment_succeeded': 'checkout_completed',
  'checkout.session.expired': 'checkout_closed',
  'checkout.session.async_payment_failed': 'checkout_failed',
  'customer.subscription.created': 'state',
  'customer.subscription.updated': 'state',
  'customer.subscription.deleted': 'state',
  'customer.subscription.paused': 'state',
  'customer.subscription.resumed': 'state',
  'customer.subscription.trial_will_end': 'state',
  'customer.subscription.pending_update_applied': 'state',
  'customer.subscription.pending_update_expired': 'state',
  'invoice.paid': 'invoice_settled',
  'invoice.voided': 'invoice_settled',
  'invoice.marked_uncollectible': 'invoice_settled',
  'invoice.payment_failed': 'invoice_problem',
  'invoice.payment_action_required': 'invoice_problem',
  'invoice.finalization_failed': 'note',
  'charge.refunded': 'money',
  'refund.created': 'money',
  'refund.updated': 'money',
  'refund.failed': 'money',
  'charge.dispute.created': 'money',
  'charge.dispute.updated': 'money',
  'charge.dispute.closed': 'money',
  'charge.dispute.funds_withdrawn': 'money',
  'charge.dispute.funds_reinstated': 'money',
  'radar.early_fraud_warning.created': 'money',
  'subscription_schedule.updated': 'schedule',
  'subscription_schedule.released': 'schedule',
  'subscription_schedule.canceled': 'schedule',
  'subscription_schedule.completed': 'schedule',
  'customer.updated': 'customer_changed',
  'customer.deleted': 'customer_gone',
  'product.updated': 'prices',
};

/** Every type that the provider's webhook endpoint has to be subscribed to. */
export const subscribedTypes = [...Object.keys(handlers), 'price.created', 'price.updated', 'price.deleted'];

type StoredEvent = {
  event: PaymentEvent;
  handler: HandlerName;
  /** The subscription that an event of the handler `state` shows; null if it cannot be read. */
  state: SubscriptionState | null;
  references: EventReferences;
  /** The organisation whose row is locked; null if the event concerns none of ours. */
  organisationId: string | null;
};

type OwnEvent = StoredEvent & { organisationId: string };

/** The outcome, and the subscription about which the provider is to be asked after the commit. */
type HandlerResult = { outcome: EventOutcome; toSync: string | null };

/** Runs the handler of a stored event. One that also shows that no tax is computed any more is noted for the operator. */
export async function handleEvent(app: App, tx: Transaction, stored: StoredEvent): Promise<HandlerResult> {
  const result = await runHandler(app, tx, stored);
  return result.outcome === applied && losesTax(stored.event) ? { ...result, outcome: eventOutcomes.noted } : result;
}

async function runHandler(app: App, tx: Transaction, stored: StoredEvent): Promise<HandlerResult> {
  if (stored.handler === 'prices') return withoutSync(await requestPriceLookUp(app, tx, stored.event));
  if (stored.organisationId === null) return withoutSync(await handleForeignEvent(app, tx, stored));

  const ours = { ...stored, organisationId: stored.organisationId };
  switch (stored.handler) {
    case 'checkout_completed':
      return completeCheckout(app, tx, ours);
    case 'checkout_closed':
      await closeExpired(app, tx, ours.event.objectId ?? '');
      return withoutSync(applied);
    case 'checkout_failed':
      return withoutSync(await closeCheckout(app, tx, ours, eventOutcomes.noted));
    case 'state':
      return handleState(app, tx, ours);
    case 'invoice_settled':
      await settleInvoice(tx, ours);
      return markForSync(tx, ours);
    case 'invoice_problem':
      await noteProblem(tx, ours);
      return markForSync(tx, ours);
    case 'schedule':
      return markForSync(tx, ours);
    case 'note':
      return { ...(await markForSync(tx, ours)), outcome: eventOutcomes.noted };
    case 'money':
      return withoutSync(eventOutcomes.noted);
    case 'customer_changed':
      return withoutSync(await handleCustomerUpdated(app, tx, ours));
    case 'customer_gone':
      return withoutSync(await handleCustomerDeleted(app, tx, ours));
  }
}

function withoutSync(outcome: EventOutcome): HandlerResult {
  return { outcome, toSync: null };
}

/** Handles an event of a customer that is not ours; it is flagged if its metadata name an organisation. */
async function handleForeignEvent(
  app: App,
  tx: Transaction,
  { event, references, handler }: StoredEvent,
): Promise<EventOutcome> {
  // It may name charge and payment alone, and operators have to see each one: a job finds its organisation.
  if (handler === 'money' && references.customerId === null) {
    await app.jobs.send(tx, 'payment-owner', { eventId: event.id }, { key: event.id });
    return eventOutcomes.noted;
  }
  if (references.organisations.length === 0) return eventOutcomes.not_ours;

  const ids = references.organisations.filter(isUuid);
  const known = await tx.select({ id: organisations.id }).from(organisations).where(inArray(organisations.id, ids));
  return known.length > 0 ? eventOutcomes.contradiction : eventOutcomes.unknown_organisation;
}

/** Links organisation, customer and subscription. It gives no plan: the sync that follows does. */
async function completeCheckout(app: App, tx: Transaction, ours: OwnEvent): Promise<HandlerResult> {
  const { organisationId, references } = ours;
  if (references.organisations.length < 2 || references.organisations.some((id) => id !== organisationId)) {
    return withoutSync(eventOutcomes.contradiction);
  }
  await closeCheckout(app, tx, ours, applied);
  return markForSync(tx, ours);
}

async function closeCheckout(app: App, tx: Transaction, ours: OwnEvent, outcome: EventOutcome): Promise<EventOutcome> {
  const open = and(
    eq(paymentCheckouts.id, ours.event.objectId ?? ''),
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
  { organisationId, references }: OwnEvent,
): Promise<EventOutcome> {
  const customerId = references.customerId ?? '';
  const current = and(eq(paymentCustomers.customerId, customerId), isNull(paymentCustomers.goneAt));
  await tx.update(paymentCustomers).set({ goneAt: app.now() }).where(current);

  await syncLive(app, tx, { organisationId, customerId });
  return applied;
}

/**
 * Enqueues what follows from a change of a customer. The jobs ask the provider, so the order of the events does not
 * matter. The subscriptions are synced, because their answers tell the method that is charged and the credit.
 */
async function handleCustomerUpdated(
  app: App,
  tx: Transaction,
  { event, organisationId, references }: OwnEvent,
): Promise<EventOutcome> {
  const customerId = references.customerId ?? '';
  const { contact, balance, methodId } = changesOfCustomer(event);
  if (contact) await app.jobs.send(tx, 'payment-contact', { organisationId }, { key: organisationId });
  if (methodId != null) {
    const data = { organisationId, customerId, methodId, savedAt: event.created };
    await app.jobs.send(tx, 'payment-card', data, { key: event.id });
  }
  if (balance || methodId !== undefined) await syncLive(app, tx, { organisationId, customerId });
  return applied;
}

/** Enqueues a sync of a customer's subscriptions that have not ended. */
async function syncLive(
  app: App,
  tx: Transaction,
  { organisationId, customerId }: { organisationId: string; customerId: string },
): Promise<void> {
  const theirs = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.customerId, customerId),
  );
  const live = await tx
    .update(paymentSubscriptions)
    .set(markedForSync)
    .where(and(theirs, eq(paymentSubscriptions.ended, false)))
    .returning({ id: paymentSubscriptions.id });
  for (const { id } of live) await app.jobs.send(tx, 'payment-sync', { subscriptionId: id }, { key: id });
}

/**
 * Writes what the event shows of a subscription, if it is newer than its row, and marks the row. A subscription never
 * changes its customer or organisation: an event that says so is a contradiction.
 */
async function handleState(app: App, tx: Transaction, ours: OwnEvent): Promise<HandlerResult> {
  const { event, state, organisationId } = ours;
  if (state === null) return withoutSync(eventOutcomes.unreadable);
  const { id, customerId } = state;
  const stored = await readRows(tx, { organisationId, subscriptionId: id });
  const row = stored.rows.find((each) => each.id === id) ?? null;
  if (row !== null && (row.customerId !== customerId || row.organisationId !== organisationId)) {
    return withoutSync(eventOutcomes.contradiction);
  }

  const { columns: after, newPrice } = await readColumns(app, tx, state);
  const before = await stateBefore(app, tx, event);
  const columns = afterEvent(row, { created: event.created, after, before });
  await writeRow(app, tx, stored, { id, organisationId, customerId, columns, newPrice, marks: { needsSync: true } });
  return { outcome: applied, toSync: id };
}

/** Returns the columns of the state before an event's change; null if the event shows none. */
async function stateBefore(app: App, tx: Transaction, event: PaymentEvent) {
  const state = subscriptionBefore(event);
  return state === null ? null : (await readColumns(app, tx, state)).columns;
}

/** Inserts or marks the row of the subscription, if the event names one, whose state it does not show. */
async function markForSync(tx: Transaction, { references, organisationId }: OwnEvent): Promise<HandlerResult> {
  const { customerId, subscriptionId } = references;
  if (subscriptionId === null) return withoutSync(applied);
  if (customerId === null) return withoutSync(eventOutcomes.unreadable);

  const marked = await mark(tx).execute({ id: subscriptionId, organisationId, customerId });
  return marked.length > 0 ? { outcome: applied, toSync: subscriptionId } : withoutSync(eventOutcomes.contradiction);
}

const mark = prepared((db) =>
  db
    .insert(paymentSubscriptions)
    .values({
      id: sql.placeholder('id'),
      organisationId: sql.placeholder('organisationId'),
      customerId: sql.placeholder('customerId'),
      needsSync: true,
    })
    .onConflictDoUpdate({
      target: paymentSubscriptions.id,
      set: markedForSync,
      setWhere: sql`${paymentSubscriptions.organisationId} = excluded.organisation_id
        and ${paymentSubscriptions.customerId} = excluded.customer_id`,
    })
    .returning({ id: paymentSubscriptions.id })
    .prepare('payment_subscription_mark'),
);
