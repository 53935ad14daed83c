import { and, eq, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared, type Transaction } from '../../db/client.ts';
import { paymentCustomers, paymentSubscriptions } from '../../db/schema/billing.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import { readSubscriptionState } from '../projection/subscription-state.ts';
import { handlerOf } from './event-handlers.ts';
import { applied, type EventOutcome, eventOutcomes } from './event-outcome.ts';
import { correct, type Entry, payloadOf, store, storeAgain, wasHandled } from './event-store.ts';
import { handleEvent } from './handle-event.ts';
import { type PaymentEvent, parseEvent, type Subject, subjectOf } from './parse-event.ts';

export type Answer = { received: true; handled: boolean };

/**
 * Stores an event and updates the rows that it concerns, in one transaction and without a
 * request to the provider. The rows depend on the set of stored events, not on their order of
 * arrival. A duplicate changes nothing and gets the first one's answer.
 */
export async function applyEvent(app: App, event: PaymentEvent, payload: string): Promise<Answer> {
  const { handled, outcome } = await app.db.transaction(async (tx) => {
    const entry = await entryOf(app, tx, event, payload);
    const number = await store(tx, app, entry);
    if (number === null) return { handled: await wasHandled(tx, event.id), outcome: 'duplicate' as const };
    return runHandler(app, tx, { ...entry, number });
  });
  app.metrics.count('gatehouse_payment_events_total', { outcome });

  app.jobs.wake('payment-sync');
  app.jobs.wake('payment-prices');
  return { received: true, handled };
}

/**
 * Applies a stored event again and returns whether it was handled; null if there is no such
 * event. It keeps its number, so an old event cannot outrank newer ones. Its organisation and
 * mode are determined again, because they may have been unknown when it arrived.
 */
export async function applyAgain(app: App, tx: Transaction, id: string): Promise<boolean | null> {
  const payload = await payloadOf(tx, id);
  const event = payload === null ? null : parseEvent(JSON.parse(payload));
  if (payload === null || event === null) return null;

  const entry = await entryOf(app, tx, event, payload);
  const number = await storeAgain(tx, entry);
  return number === null ? null : (await runHandler(app, tx, { ...entry, number })).handled;
}

/** Returns what is stored of an event, and locks the row of its organisation. */
async function entryOf(app: App, tx: Transaction, event: PaymentEvent, payload: string): Promise<Entry> {
  const ourMode = event.livemode === app.payment?.livemode;
  const handler = ourMode ? handlerOf(event.type) : null;
  const outcome = handler !== null ? applied : ourMode ? eventOutcomes.ignored : eventOutcomes.other_mode;

  const state = handler === 'state' ? readSubscriptionState(event.object) : null;
  const subject = subjectOf(event);
  const owner = await findOwner(tx, subject);
  const organisationId =
    owner !== null && (await lockOrganisation(tx, owner.organisationId)) ? owner.organisationId : null;
  if (owner?.isModeUnknown) await storeMode(tx, subject, event.livemode);
  return { event, payload, handler, state, subject, organisationId, outcome };
}

/** Runs the event's handler and stores its outcome if it differs from the expected one. */
async function runHandler(
  app: App,
  tx: Transaction,
  { handler, outcome, ...stored }: Entry & { number: number },
): Promise<EventOutcome> {
  if (handler === null) return outcome;

  const found = await handleEvent(app, tx, { ...stored, handler });
  if (found !== outcome) await correct(tx, stored.event.id, found);
  return found;
}

/** Finds an event's organisation by its customer or by a known subscription, never by an e-mail address. */
async function findOwner(tx: Transaction, { customerId, subscriptionId }: Subject) {
  const rows = await owner(tx).execute({ customerId, subscriptionId });
  const [row] = rows;
  return row === undefined ? null : { ...row, isModeUnknown: rows.some(({ livemode }) => livemode === null) };
}

/** Stores the event's mode in rows of unknown mode, which are older than the column. */
async function storeMode(tx: Transaction, { customerId, subscriptionId }: Subject, livemode: boolean): Promise<void> {
  const customer = and(eq(paymentCustomers.customerId, customerId ?? ''), isNull(paymentCustomers.livemode));
  await tx.update(paymentCustomers).set({ livemode }).where(customer);
  const subscription = and(eq(paymentSubscriptions.id, subscriptionId ?? ''), isNull(paymentSubscriptions.livemode));
  await tx.update(paymentSubscriptions).set({ livemode }).where(subscription);
}

const owner = prepared((db) => {
  const byCustomer = db
    .select({ organisationId: paymentCustomers.organisationId, livemode: paymentCustomers.livemode })
    .from(paymentCustomers)
    .where(eq(paymentCustomers.customerId, sql.placeholder('customerId')));
  const bySubscription = db
    .select({ organisationId: paymentSubscriptions.organisationId, livemode: paymentSubscriptions.livemode })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, sql.placeholder('subscriptionId')));
  return byCustomer.unionAll(bySubscription).prepare('payment_event_owner');
});
