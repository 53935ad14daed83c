import { and, eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { listAll } from '../providers/list-all.ts';
import { type Ask, isMissing } from '../providers/payment.ts';
import { currentCustomer, leaseOf } from './customer.ts';
import { withLease } from './lease.ts';
import { readSubscriptionState, requireSubscriptionState, type SubscriptionState } from './subscription-state.ts';
import { lastNumbers, takeIgnorance, takeSnapshot } from './take-snapshot.ts';

/**
 * Brings a subscription's row to what the provider says now. A subscription that the
 * provider does not know is flagged and ends nothing: a wrong key would end them all.
 */
export async function syncSubscription(app: App, subscriptionId: string): Promise<void> {
  const row = await rowOf(app, subscriptionId);
  if (row === null) return;

  await withLease(app, leaseOf(row.organisationId), (ask, holder) => syncOne(app, ask, { ...row, holder }));
}

type Held = { holder: string };

/** Answers with what the provider said; null where it does not know the subscription. */
async function syncOne(app: App, ask: Ask, row: Row & Held): Promise<SubscriptionState | null> {
  const { id } = row;
  const number = (await rowOf(app, id))?.lastEventNumber ?? 0;
  try {
    const state = requireSubscriptionState(await ask((provider) => provider.subscriptions.retrieve(id)), id);
    await takeSnapshot(app, row, state, number);
    return state;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await takeIgnorance(app, row, id);
    return null;
  }
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

/**
 * Brings all rows of an organisation to what the provider says now: those of its customer,
 * and by their own ids the live ones of a customer that is gone or unknown. Answers with
 * it, and with the ids of the live rows that the provider does not know.
 */
export async function syncOrganisation(app: App, ask: Ask, whose: { organisationId: string } & Held) {
  const states = await syncCurrentCustomer(app, ask, whose);
  const unknown: string[] = [];

  const live = and(
    eq(paymentSubscriptions.organisationId, whose.organisationId),
    eq(paymentSubscriptions.ended, false),
  );
  for (const row of await app.db.select(rowColumns).from(paymentSubscriptions).where(live)) {
    if (states.some(({ id }) => id === row.id)) continue;
    const state = await syncOne(app, ask, { ...row, ...whose });
    if (state === null) unknown.push(row.id);
    else states.push(state);
  }
  return { states, unknown };
}

async function syncCurrentCustomer(app: App, ask: Ask, whose: { organisationId: string } & Held) {
  const customerId = await currentCustomer(app, whose.organisationId);
  if (customerId === null) return [];
  try {
    return await syncCustomer(app, ask, { ...whose, customerId });
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    return [];
  }
}

type Row = Awaited<ReturnType<typeof rowOf>> & object;

const rowColumns = {
  id: paymentSubscriptions.id,
  organisationId: paymentSubscriptions.organisationId,
  customerId: paymentSubscriptions.customerId,
  lastEventNumber: paymentSubscriptions.lastEventNumber,
};

async function rowOf(app: App, id: string) {
  const [row] = await app.db.select(rowColumns).from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row ?? null;
}
