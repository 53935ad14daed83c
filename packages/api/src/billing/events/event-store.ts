import { eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared, type Transaction } from '../../db/client.ts';
import { paymentEvents } from '../../db/schema/billing.ts';
import { type SubscriptionState, statusClassOf } from '../projection/subscription-state.ts';
import type { HandlerName } from './event-handlers.ts';
import type { EventOutcome } from './event-outcome.ts';
import type { PaymentEvent, Subject } from './parse-event.ts';

export type Entry = {
  event: PaymentEvent;
  payload: string;
  /** The handler of its type; null if the event changes nothing. */
  handler: HandlerName | null;
  /** The subscription that an event of the handler `state` shows; null if it cannot be read, and for other events. */
  state: SubscriptionState | null;
  subject: Subject;
  organisationId: string | null;
  outcome: EventOutcome;
};

/** Stores an event and returns its number in our order of arrival; null if it is stored already. */
export async function store(tx: Transaction, app: App, entry: Entry): Promise<number | null> {
  const { event, payload } = entry;
  const [stored] = await insertion(tx).execute({
    id: event.id,
    type: event.type,
    created: event.created,
    receivedAt: app.now(),
    ...interpretationOf(entry),
    payload,
  });
  return stored?.number ?? null;
}

/** Stores a new interpretation of a stored event and returns its number, which does not change. */
export async function storeAgain(tx: Transaction, entry: Entry): Promise<number | null> {
  const [stored] = await tx
    .update(paymentEvents)
    .set(interpretationOf(entry))
    .where(eq(paymentEvents.id, entry.event.id))
    .returning({ number: paymentEvents.number });
  return stored?.number ?? null;
}

function interpretationOf({ state, subject, organisationId, outcome }: Entry) {
  return {
    organisationId,
    customerId: subject.customerId,
    subscriptionId: subject.subscriptionId,
    invoiceId: subject.invoiceId,
    statusClass: organisationId === null ? null : state && statusClassOf(state.status),
    ...outcome,
  };
}

const insertion = prepared((db) =>
  db
    .insert(paymentEvents)
    .values({
      id: sql.placeholder('id'),
      type: sql.placeholder('type'),
      created: sql.placeholder('created'),
      receivedAt: sql.placeholder('receivedAt'),
      organisationId: sql.placeholder('organisationId'),
      customerId: sql.placeholder('customerId'),
      subscriptionId: sql.placeholder('subscriptionId'),
      invoiceId: sql.placeholder('invoiceId'),
      statusClass: sql.placeholder('statusClass'),
      handled: sql.placeholder('handled'),
      outcome: sql.placeholder('outcome'),
      flagged: sql.placeholder('flagged'),
      payload: sql.placeholder('payload'),
    })
    .onConflictDoNothing()
    .returning({ number: paymentEvents.number })
    .prepare('payment_event_store'),
);

/** Returns whether a stored event was handled. */
export async function wasHandled(tx: Transaction, id: string): Promise<boolean> {
  const [known] = await tx
    .select({ handled: paymentEvents.handled })
    .from(paymentEvents)
    .where(eq(paymentEvents.id, id));
  return known?.handled ?? false;
}

/** Returns a stored event's JSON; null if there is no such event. */
export async function payloadOf(tx: Transaction, id: string): Promise<string | null> {
  const [known] = await tx
    .select({ payload: paymentEvents.payload })
    .from(paymentEvents)
    .where(eq(paymentEvents.id, id));
  return known?.payload ?? null;
}

/** Stores the outcome that the handler found. An event that was not handled gets no status class, so it decides nothing. */
export async function correct(tx: Transaction, id: string, outcome: EventOutcome): Promise<void> {
  await tx
    .update(paymentEvents)
    .set({ ...outcome, ...(outcome.handled ? {} : { statusClass: null }) })
    .where(eq(paymentEvents.id, id));
}
