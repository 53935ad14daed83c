import { eq, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type Database, prepared, preparedSql, type Transaction } from '../../platform/db/client.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { isSqlState } from '../../platform/errors.ts';
import type { ComputedColumns } from '../projection/projection.ts';
import {
  type EventReferences,
  eventClassOf,
  type PaymentEvent,
  type SubscriptionState,
} from '../projection/provider-objects.ts';
import { computedAssignments, valuesOf } from '../projection/subscription-row.ts';
import type { HandlerName } from './event-handlers.ts';
import type { EventOutcome } from './event-outcome.ts';

/** An event with what it alone decides, as its row in the store holds it. */
export type InterpretedEvent = {
  event: PaymentEvent;
  payload: string;
  /** The handler of its type; null if the event changes nothing. */
  handler: HandlerName | null;
  /** The subscription that an event of the handler `state` shows; null if it cannot be read, and for other events. */
  state: SubscriptionState | null;
  references: EventReferences;
  outcome: EventOutcome;
};

/** What storing an event determined. */
export type Arrival = {
  /** Our order of arrival. */
  number: number;
  /** The organisation whose row is locked; null if the event concerns none of ours. */
  organisationId: string | null;
};

/**
 * Locks the organisation's row and stores the event, by one statement: the event gets its number
 * while the row is locked. Returns null if the event is stored already.
 */
export async function storeEvent(tx: Transaction, app: App, entry: InterpretedEvent): Promise<Arrival | null> {
  const [stored] = await insertion(tx).execute(valuesOfEvent(app, entry));
  return stored === undefined ? null : arrivalOf(stored);
}

/**
 * Locks the organisation's row, stores the event and writes its subscription's row, by one statement. Returns
 * false and changes nothing if the row is no longer of that version or of another organisation, or if the event was
 * stored since.
 */
export async function storeEventWithRow(
  db: Database,
  app: App,
  entry: InterpretedEvent,
  { version, columns }: { version: string; columns: ComputedColumns },
): Promise<boolean> {
  const values = { ...valuesOfEvent(app, entry), ...valuesOf(columns), version };
  try {
    return (await insertionWithRow(db).execute(values)).length > 0;
  } catch (error) {
    // A node with a key of the other mode stores the event without writing the row.
    if (isSqlState(error, '23505')) return false;
    throw error;
  }
}

function valuesOfEvent(app: App, { payload, ...entry }: InterpretedEvent) {
  const { id, type, created } = entry.event;
  return { id, type, created, receivedAt: app.now().toISOString(), payload, ...interpretationOf(entry) };
}

/**
 * Stores a new interpretation of a stored event, whose number does not change. Returns null if there is no such event.
 */
export async function storeEventAgain(tx: Transaction, entry: InterpretedEvent): Promise<Arrival | null> {
  const { customerId, subscriptionId } = entry.references;
  const [owner] = await ownerLock(tx).execute({ customerId, subscriptionId });
  const organisationId = owner?.id ?? null;
  const { statusClass, ...interpretation } = interpretationOf(entry);
  const [stored] = await tx
    .update(paymentEvents)
    .set({ ...interpretation, organisationId, statusClass: organisationId === null ? null : statusClass })
    .where(eq(paymentEvents.id, entry.event.id))
    .returning({ number: paymentEvents.number });
  return stored === undefined ? null : arrivalOf({ ...stored, organisation_id: organisationId });
}

function interpretationOf({ event, state, references, outcome }: Omit<InterpretedEvent, 'payload'>) {
  return {
    customerId: references.customerId,
    subscriptionId: references.subscriptionId,
    invoiceId: references.invoiceId,
    statusClass: state === null ? null : eventClassOf(state, event.previous),
    ...outcome,
  };
}

type StoredRow = { number: number | string; organisation_id: string | null };

function arrivalOf({ number, organisation_id }: StoredRow): Arrival {
  return { number: Number(number), organisationId: organisation_id };
}

const customerId = sql`${sql.placeholder('customerId')}::text`;
const subscriptionId = sql`${sql.placeholder('subscriptionId')}::text`;

/** Locks the organisation of an event: by its customer or by a known subscription, never by an e-mail address. */
const lockedOwner = sql`
  select id from organisations
  where id = coalesce(
    (select organisation_id from payment_customers where customer_id = ${customerId}),
    (select organisation_id from payment_subscriptions where id = ${subscriptionId}))
  for no key update`;

const ownerLock = preparedSql<{ id: string }>('payment_event_owner', lockedOwner);

function value(name: string, type = 'text'): SQL {
  return sql`${sql.placeholder(name)}::${sql.raw(type)}`;
}

/** Reads the owner first, so that the sequence gives the number after the lock. */
const insertion = preparedSql<StoredRow>(
  'payment_event_store',
  sql`
  with owner as (${lockedOwner})
  insert into payment_events (id, type, created, received_at, customer_id, subscription_id, invoice_id, handled,
    outcome, flagged, payload, organisation_id, status_class)
  select ${value('id')}, ${value('type')}, ${value('created', 'bigint')}, ${value('receivedAt', 'timestamptz')},
    ${customerId}, ${subscriptionId}, ${value('invoiceId')}, ${value('handled', 'boolean')}, ${value('outcome')},
    ${value('flagged', 'boolean')}, ${value('payload')}, owner.id,
    case when owner.id is not null then ${value('statusClass')} end
  from (select 1) as one left join owner on true
  on conflict (id) do nothing
  returning number, organisation_id`,
);

/** The sequence gives the number after the lock. */
const insertionWithRow = preparedSql(
  'payment_event_store_with_row',
  sql`
  with owner as (${lockedOwner}), written as (
    update payment_subscriptions set last_event_number = nextval('payment_events_number_seq'), needs_sync = true,
      ${computedAssignments}
    from owner
    where payment_subscriptions.id = ${value('subscriptionId')} and organisation_id = owner.id
      and payment_subscriptions.xmin = ${value('version', 'xid')}
    returning last_event_number, organisation_id)
  insert into payment_events (number, id, type, created, received_at, customer_id, subscription_id, invoice_id, handled,
    outcome, flagged, payload, organisation_id, status_class)
  overriding system value
  select last_event_number, ${value('id')}, ${value('type')}, ${value('created', 'bigint')},
    ${value('receivedAt', 'timestamptz')}, ${value('customerId')}, ${value('subscriptionId')}, ${value('invoiceId')},
    ${value('handled', 'boolean')}, ${value('outcome')}, ${value('flagged', 'boolean')}, ${value('payload')},
    organisation_id, ${value('statusClass')}
  from written
  returning id`,
);

/** Returns whether a stored event was handled. */
export async function wasHandled(tx: Transaction, id: string): Promise<boolean> {
  const [known] = await handledOf(tx).execute({ id });
  return known?.handled ?? false;
}

const handledOf = prepared((db) =>
  db
    .select({ handled: paymentEvents.handled })
    .from(paymentEvents)
    .where(eq(paymentEvents.id, sql.placeholder('id')))
    .prepare('payment_event_handled'),
);

/** Returns a stored event's JSON; null if there is no such event. */
export async function payloadOf(tx: Transaction, id: string): Promise<string | null> {
  const [known] = await tx
    .select({ payload: paymentEvents.payload })
    .from(paymentEvents)
    .where(eq(paymentEvents.id, id));
  return known?.payload ?? null;
}

/**
 * Stores the outcome that the handler found. An event that was not handled gets no status class, so it decides
 * nothing.
 */
export async function storeOutcome(tx: Transaction, id: string, outcome: EventOutcome): Promise<void> {
  await tx
    .update(paymentEvents)
    .set({ ...outcome, ...(outcome.handled ? {} : { statusClass: null }) })
    .where(eq(paymentEvents.id, id));
}
