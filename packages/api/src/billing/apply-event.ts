import { eq, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { prepared, type Transaction } from '../db/client.ts';
import { paymentCustomers, paymentSubscriptions } from '../db/schema.ts';
import { applyEffect } from './apply-effect.ts';
import { effectOf } from './effects.ts';
import { type PaymentEvent, type Subject, subjectOf } from './event.ts';
import { correct, store, wasHandled } from './ledger.ts';
import { lockOrganisation } from './lock-organisation.ts';
import { applied, verdicts } from './verdict.ts';

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
