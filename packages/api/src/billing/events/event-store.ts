import { eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared, type Transaction } from '../../platform/db/client.ts';
import { paymentCustomers, paymentEvents, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import type { EventReferences, PaymentEvent } from '../../platform/providers/payment/event.ts';

/** What a stored event turned out to be. */
export type EventOutcome = {
  /** Whether it changed or confirmed something of ours. */
  handled: boolean;
  outcome: keyof typeof outcomeFlags;
  /** Whether an operator should look at it. */
  flagged: boolean;
};

const outcomeFlags = {
  applied: { handled: true, flagged: false },
  noted: { handled: true, flagged: true },
  /** A type that we do not subscribe to. */
  ignored: { handled: false, flagged: false },
  /** An event of the mode that is not our key's; without a key, every event. */
  other_mode: { handled: false, flagged: false },
  not_ours: { handled: false, flagged: false },
  /** Its metadata name an organisation in our form that does not exist here. */
  unknown_organisation: { handled: false, flagged: true },
  /** Its organisation, customer and subscription contradict what is stored. */
  contradiction: { handled: false, flagged: true },
  unreadable: { handled: false, flagged: true },
};

export const eventOutcomes = Object.fromEntries(
  Object.entries(outcomeFlags).map(([outcome, flags]) => [outcome, { outcome, ...flags }]),
) as Record<EventOutcome['outcome'], EventOutcome>;

export const applied = eventOutcomes.applied;

/**
 * Locks the row of the organisation that an event is about and returns its id: found by its customer or by a known
 * subscription, never by an e-mail address. Null if the event concerns none of ours.
 */
export async function lockOwner(
  tx: Transaction,
  { customerId, subscriptionId }: Pick<EventReferences, 'customerId' | 'subscriptionId'>,
): Promise<string | null> {
  const [owner] = await ownerLock(tx).execute({ customerId, subscriptionId });
  return owner?.id ?? null;
}

const ownerLock = prepared((db) => {
  const ofCustomer = db
    .select({ id: paymentCustomers.organisationId })
    .from(paymentCustomers)
    .where(eq(paymentCustomers.customerId, sql.placeholder('customerId')));
  const ofSubscription = db
    .select({ id: paymentSubscriptions.organisationId })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, sql.placeholder('subscriptionId')));
  return db
    .select({ id: organisations.id })
    .from(organisations)
    .where(eq(organisations.id, sql`coalesce(${ofCustomer}, ${ofSubscription})`))
    .for('no key update')
    .prepare('payment_event_owner');
});

/** An event with what is to be stored of it. */
type LedgerEntry = {
  event: PaymentEvent;
  payload: string;
  references: EventReferences;
  organisationId: string | null;
  outcome: EventOutcome;
};

/** Stores an event in the ledger. Returns false and changes nothing if it is stored already. */
export async function storeEvent(tx: Transaction, app: App, entry: LedgerEntry): Promise<boolean> {
  const { event, payload, references, organisationId, outcome } = entry;
  const stored = await insertion(tx).execute({
    ...outcome,
    id: event.id,
    type: event.type,
    created: event.created,
    receivedAt: app.now(),
    organisationId,
    customerId: references.customerId,
    subscriptionId: references.subscriptionId,
    invoiceId: references.invoiceId,
    payload,
  });
  return stored.length > 0;
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
      handled: sql.placeholder('handled'),
      outcome: sql.placeholder('outcome'),
      flagged: sql.placeholder('flagged'),
      payload: sql.placeholder('payload'),
    })
    .onConflictDoNothing()
    .returning({ id: paymentEvents.id })
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

/** Stores the outcome that a handler found, where it is not the expected one. */
export async function storeOutcome(tx: Transaction, id: string, outcome: EventOutcome): Promise<void> {
  await tx.update(paymentEvents).set(outcome).where(eq(paymentEvents.id, id));
}
