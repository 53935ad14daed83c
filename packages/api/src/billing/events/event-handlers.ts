import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { isUuid } from '../../platform/db/id.ts';
import { paymentCheckouts, paymentCustomers, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { textOf } from '../../platform/providers/untrusted-json.ts';
import { requestPriceLookUp } from '../prices/request-look-up.ts';
import { hasConsequences, storeConsequences } from '../projection/consequences.ts';
import { type ProjectionInput, recompute } from '../projection/projection.ts';
import type { EventReferences, PaymentEvent, SubscriptionState } from '../projection/provider-objects.ts';
import { upsertMark, upsertState } from '../projection/subscription-row.ts';
import { applied, type EventOutcome, eventOutcomes } from './event-outcome.ts';

/** The handlers of the event types that we subscribe to. Events of other types are stored and change nothing. */
export type HandlerName =
  | 'checkout_completed'
  | 'checkout_closed'
  | 'checkout_failed'
  | 'state'
  | 'invoice_settled'
  | 'invoice_problem'
  | 'note'
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
  'charge.refunded': 'note',
  'charge.dispute.created': 'note',
  'customer.deleted': 'customer_gone',
  'product.updated': 'prices',
};

function typesOf(handler: HandlerName): string[] {
  return Object.keys(handlers).filter((type) => handlers[type] === handler);
}

export const invoiceProblemTypes = typesOf('invoice_problem');
export const invoiceSettledTypes = typesOf('invoice_settled');

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
  number: number;
  /** What decides the row of that subscription, this event included; null without `state`. */
  input: ProjectionInput | null;
};

type OwnEvent = StoredEvent & { organisationId: string };

/** The outcome, and the subscription about which the provider is to be asked after the commit. */
type HandlerResult = { outcome: EventOutcome; toSync: string | null };

/** Runs the handler of a stored event. */
export async function handleEvent(app: App, tx: Transaction, stored: StoredEvent): Promise<HandlerResult> {
  if (stored.handler === 'prices') return withoutSync(await requestPriceLookUp(app, tx, stored.event));
  if (stored.organisationId === null) return withoutSync(await handleForeignEvent(tx, stored));

  const ours = { ...stored, organisationId: stored.organisationId };
  switch (stored.handler) {
    case 'checkout_completed':
      return completeCheckout(app, tx, ours);
    case 'checkout_closed':
      return withoutSync(await closeCheckout(app, tx, ours, applied));
    case 'checkout_failed':
      return withoutSync(await closeCheckout(app, tx, ours, eventOutcomes.noted));
    case 'state':
      return handleState(app, tx, ours);
    case 'invoice_settled':
    case 'invoice_problem':
      return ours.references.subscriptionId === null ? withoutSync(applied) : markForSync(tx, ours);
    case 'note':
      return withoutSync(eventOutcomes.noted);
    case 'customer_gone':
      return withoutSync(await handleCustomerDeleted(app, tx, ours));
  }
}

function withoutSync(outcome: EventOutcome): HandlerResult {
  return { outcome, toSync: null };
}

/** Handles an event of a customer that is not ours; it is flagged if its metadata name an organisation. */
async function handleForeignEvent(tx: Transaction, { event, references }: StoredEvent): Promise<EventOutcome> {
  // A dispute names no customer, and operators have to see each one.
  if (event.type === 'charge.dispute.created') return eventOutcomes.noted;
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
  return references.subscriptionId === null ? withoutSync(applied) : markForSync(tx, ours);
}

async function closeCheckout(app: App, tx: Transaction, ours: OwnEvent, outcome: EventOutcome): Promise<EventOutcome> {
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
  { organisationId, references, number }: OwnEvent,
): Promise<EventOutcome> {
  const customerId = references.customerId ?? '';
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
async function handleState(app: App, tx: Transaction, ours: OwnEvent): Promise<HandlerResult> {
  const { state, input, organisationId } = ours;
  if (state === null || input === null) return withoutSync(eventOutcomes.unreadable);
  if (input.row !== null && input.row.customerId !== state.customerId) return withoutSync(eventOutcomes.contradiction);
  const recomputed = recompute(app, input);
  if (recomputed === null) return markForSync(tx, ours);

  const keys = { id: state.id, customerId: state.customerId, ...keysOf(ours) };
  if (!(await upsertState(tx, keys, recomputed.columns))) return withoutSync(eventOutcomes.contradiction);

  const isOurs = input.row?.organisationId === organisationId;
  if (input.row === null || !isOurs || hasConsequences(input.row, recomputed)) {
    await storeConsequences(app, tx, organisationId, input.row ?? unknownRow, recomputed);
  }
  return { outcome: applied, toSync: state.id };
}

const unknownRow = { status: null, tier: null, ended: false };

/** Inserts or marks the row of a subscription whose state the event does not show. */
async function markForSync(tx: Transaction, ours: OwnEvent): Promise<HandlerResult> {
  const { customerId, subscriptionId } = ours.references;
  if (customerId === null || subscriptionId === null) return withoutSync(eventOutcomes.unreadable);

  const isMarked = await upsertMark(tx, { id: subscriptionId, customerId, ...keysOf(ours) });
  return isMarked ? { outcome: applied, toSync: subscriptionId } : withoutSync(eventOutcomes.contradiction);
}

function keysOf({ organisationId, number }: OwnEvent) {
  return { organisationId, number };
}
