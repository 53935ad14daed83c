import { eq, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { prepared, type Transaction } from '../db/client.ts';
import { paymentCustomers, paymentEvents, paymentSubscriptions } from '../db/schema.ts';
import { applyEffect } from './apply-effect.ts';
import { effectOf } from './effects.ts';
import { type PaymentEvent, type Subject, subjectOf } from './event.ts';
import { lockOrganisation } from './lock-organisation.ts';
import { readSubscriptionState, standingOf } from './subscription-state.ts';
import { applied, type Verdict, verdicts } from './verdict.ts';

export type Answer = { received: true; handled: boolean };

/**
 * Writes an event into the ledger and makes the rows that it concerns what the set of
 * stored events says, in one transaction and without asking the provider. A duplicate
 * changes nothing and answers as the first one did.
 */
export async function applyEvent(app: App, event: PaymentEvent, payload: string): Promise<Answer> {
  const ourMode = event.livemode === app.payment?.livemode;
  const effect = ourMode ? effectOf(event.type) : null;
  const expected = effect !== null ? applied : ourMode ? verdicts.ignored : verdicts.other_mode;

  const handled = await app.db.transaction(async (tx) => {
    const subject = subjectOf(event);
    const owner = await ownerOf(tx, subject);
    const organisationId = owner !== null && (await lockOrganisation(tx, owner)) ? owner : null;

    const number = await store(tx, app, { event, payload, subject, organisationId, verdict: expected });
    if (number === null) return wasHandled(tx, event.id);
    if (effect === null) return expected.handled;

    const verdict = await applyEffect(app, tx, { event, effect, subject, organisationId, number });
    if (verdict !== expected) await correct(tx, event.id, verdict);
    return verdict.handled;
  });

  app.jobs.wake('payment-sync');
  app.jobs.wake('payment-prices');
  return { received: true, handled };
}

/** Whose event it is: by the customer, or by a subscription that we know. Never by an address. */
async function ownerOf(tx: Transaction, { customerId, subscriptionId }: Subject): Promise<string | null> {
  const [row] = await owner(tx).execute({ customerId, subscriptionId });
  return row?.organisationId ?? null;
}

const owner = prepared((db) => {
  const byCustomer = db
    .select({ organisationId: paymentCustomers.organisationId })
    .from(paymentCustomers)
    .where(eq(paymentCustomers.customerId, sql.placeholder('customerId')));
  const bySubscription = db
    .select({ organisationId: paymentSubscriptions.organisationId })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, sql.placeholder('subscriptionId')));
  return byCustomer.unionAll(bySubscription).limit(1).prepare('payment_event_owner');
});

type Entry = {
  event: PaymentEvent;
  payload: string;
  subject: Subject;
  organisationId: string | null;
  verdict: Verdict;
};

/** Its number in our own order; null where it is here already. */
async function store(tx: Transaction, app: App, { event, payload, subject, organisationId, verdict }: Entry) {
  const tellsState = verdict.handled && effectOf(event.type) === 'state' && organisationId !== null;
  const state = tellsState ? readSubscriptionState(event.object) : null;

  const [stored] = await insertion(tx).execute({
    id: event.id,
    type: event.type,
    created: event.created,
    receivedAt: app.now(),
    organisationId,
    customerId: subject.customerId,
    subscriptionId: subject.subscriptionId,
    invoiceId: subject.invoiceId,
    standing: state && standingOf(state.status),
    handled: verdict.handled,
    outcome: verdict.outcome,
    flagged: verdict.flagged,
    payload,
  });
  return stored?.number ?? null;
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
      standing: sql.placeholder('standing'),
      handled: sql.placeholder('handled'),
      outcome: sql.placeholder('outcome'),
      flagged: sql.placeholder('flagged'),
      payload: sql.placeholder('payload'),
    })
    .onConflictDoNothing()
    .returning({ number: paymentEvents.number })
    .prepare('payment_event_store'),
);

async function wasHandled(tx: Transaction, id: string): Promise<boolean> {
  const [known] = await tx
    .select({ handled: paymentEvents.handled })
    .from(paymentEvents)
    .where(eq(paymentEvents.id, id));
  return known?.handled ?? false;
}

/** What turned out not to be ours decides nothing about a subscription either. */
async function correct(tx: Transaction, id: string, verdict: Verdict): Promise<void> {
  await tx
    .update(paymentEvents)
    .set({ ...verdict, ...(verdict.handled ? {} : { standing: null }) })
    .where(eq(paymentEvents.id, id));
}
