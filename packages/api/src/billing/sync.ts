import { eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { listAll } from '../providers/list-all.ts';
import { type Ask, isMissing } from '../providers/payment.ts';
import { leaseOf } from './customer.ts';
import { withLease } from './lease.ts';
import { readSubscriptionState, type SubscriptionState } from './subscription-state.ts';
import { lastNumbers, takeIgnorance, takeSnapshot } from './take-snapshot.ts';

/**
 * Brings a subscription's row to what the provider says now. A subscription that the
 * provider does not know is flagged and ends nothing: a wrong key would end them all.
 */
export async function syncSubscription(app: App, subscriptionId: string): Promise<void> {
  const row = await rowOf(app, subscriptionId);
  if (row === null) return;

  await withLease(app, leaseOf(row.organisationId), async (ask, holder) => {
    const number = (await rowOf(app, subscriptionId))?.lastEventNumber ?? 0;
    try {
      const answer = await ask((provider) => provider.subscriptions.retrieve(subscriptionId));
      const state = readSubscriptionState(answer);
      if (state === null) throw new Error(`The payment provider's answer about ${subscriptionId} cannot be read.`);
      await takeSnapshot(app, { ...row, holder }, state, number);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await takeIgnorance(app, { ...row, holder }, subscriptionId);
    }
  });
}

/** The same for a subscription that may have no row yet. */
export async function adoptSubscription(app: App, whose: Whose, id: string): Promise<void> {
  await app.db
    .insert(paymentSubscriptions)
    .values({ id, ...whose, needsSync: true })
    .onConflictDoNothing();
  await syncSubscription(app, id);
}

type Whose = { organisationId: string; customerId: string };

/**
 * Brings all rows of a customer to what the provider says now, and answers with it.
 * Belongs into a conversation that holds the organisation's lease.
 */
export async function syncCustomer(
  app: App,
  ask: Ask,
  whose: Whose & { holder: string },
): Promise<SubscriptionState[]> {
  const numbers = await lastNumbers(app, whose.organisationId);
  const found = await listAll(ask, (provider, place) =>
    provider.subscriptions.list({ customer: whose.customerId, status: 'all', ...place }),
  );

  const states = found.map(readSubscriptionState).filter((state) => state !== null);
  for (const state of states) await takeSnapshot(app, whose, state, numbers.get(state.id) ?? 0);
  return states;
}

async function rowOf(app: App, id: string) {
  const [row] = await app.db
    .select({
      organisationId: paymentSubscriptions.organisationId,
      customerId: paymentSubscriptions.customerId,
      lastEventNumber: paymentSubscriptions.lastEventNumber,
    })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, id));
  return row ?? null;
}
