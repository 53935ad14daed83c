import { and, eq, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared } from '../../platform/db/client.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { listAll } from '../../platform/providers/list-all.ts';
import { type Ask, isMissing, providerErrorOf } from '../../platform/providers/payment.ts';
import { checkCustomer, confirmCustomer, leaseOf, readCustomer, unknownCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import {
  isEnded,
  readSubscriptionState,
  requireSubscriptionState,
  type SubscriptionState,
} from '../projection/provider-objects.ts';
import { endUnknown } from './end-unknown.ts';
import { lastNumbers, markUnknownToProvider, type SubscriptionOwner, storeSnapshot } from './store-snapshot.ts';

/**
 * Fetches a subscription from the provider and updates its row. A subscription that the
 * provider does not know is flagged but does not end, because a wrong key would end them all.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE; Error if the answer cannot be read.
 */
export async function syncSubscription(app: App, subscriptionId: string): Promise<void> {
  const row = await rowOf(app, subscriptionId);
  if (row === null) return;

  await withLease(app, leaseOf(row.organisationId), (ask, holder) => syncOne(app, ask, { ...row, holder }));
}

type Lease = { holder: string };

/** Returns the provider's answer; null if it does not know the subscription. */
async function syncOne(app: App, ask: Ask, row: SyncedRow & Lease): Promise<SubscriptionState | null> {
  const { id } = row;
  const number = (await rowOf(app, id))?.lastEventNumber ?? 0;
  try {
    const state = requireSubscriptionState(await ask((provider) => provider.subscriptions.retrieve(id)), id);
    await storeSnapshot(app, row, state, number);
    return state;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await markUnknownToProvider(app, row, id, number);
    return null;
  }
}

/**
 * Syncs a subscription that may have no row yet.
 *
 * @throws as `syncSubscription`.
 */
export async function adoptSubscription(app: App, owner: SubscriptionOwner, id: string): Promise<void> {
  await app.db
    .insert(paymentSubscriptions)
    .values({ id, ...owner, needsSync: true })
    .onConflictDoNothing();
  await syncSubscription(app, id);
}

/**
 * Fetches all subscriptions of a customer, updates their rows and returns their states. The
 * caller holds the organisation's lease.
 *
 * @throws AppError PROVIDER_UNAVAILABLE, whose cause says whether the provider does not know the customer.
 */
export async function syncCustomer(
  app: App,
  ask: Ask,
  owner: SubscriptionOwner & { holder: string },
): Promise<SubscriptionState[]> {
  const numbers = await lastNumbers(app, owner.organisationId);
  const found = await listAll(ask, (provider, paging) =>
    provider.subscriptions.list({ customer: owner.customerId, status: 'all', ...paging }),
  );

  const states = found.map(readSubscriptionState).filter((state) => state !== null);
  for (const state of states) await storeSnapshot(app, owner, state, numbers.get(state.id) ?? 0);
  return states;
}

/**
 * Syncs all rows of an organisation: the subscriptions of its customer, and one by one the live rows that their list
 * lacks, whatever their customer. Returns their states, the ids of the live rows and the customer that the provider
 * does not know (`unknown`), and the errors of refused requests (`failures`), which do not stop the others. The caller
 * holds the organisation's lease.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer at all; Error if an answer cannot be read.
 */
export async function syncOrganisation(app: App, ask: Ask, owner: { organisationId: string } & Lease) {
  const { states, unknown, failures } = await syncCurrentCustomer(app, ask, owner);

  const live = and(
    eq(paymentSubscriptions.organisationId, owner.organisationId),
    eq(paymentSubscriptions.ended, false),
  );
  for (const row of await app.db.select(rowColumns).from(paymentSubscriptions).where(live)) {
    if (states.some(({ id }) => id === row.id)) continue;
    await collect(failures, async () => {
      const state = await syncOne(app, ask, { ...row, ...owner });
      if (state !== null) states.push(state);
      else if (!unknown.includes(row.customerId) && (await endedWithCustomer(app, ask, row)))
        await app.db.transaction((tx) => endUnknown(app, tx, owner.organisationId, [row.id]));
      else unknown.push(row.id);
    });
  }
  return { states, unknown, failures };
}

/** Collects an error that the provider answered with. Throws if it did not answer: no other request would succeed. */
async function collect(failures: unknown[], act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if ((providerErrorOf(error)?.status ?? null) === null) throw error;
    failures.push(error);
  }
}

/**
 * Syncs an organisation and returns its live subscriptions.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer about a subscription
 *   or customer, or does not know it: it may continue to bill where we cannot see it; Error if an
 *   answer cannot be read.
 */
export async function liveSubscriptions(app: App, ask: Ask, owner: { organisationId: string } & Lease) {
  const { states, unknown, failures } = await syncOrganisation(app, ask, owner);
  if (failures.length > 0) throw failures[0];
  if (unknown.length > 0) throw unknownCustomer();
  return states.filter((state) => !isEnded(state));
}

async function syncCurrentCustomer(app: App, ask: Ask, { organisationId, holder }: { organisationId: string } & Lease) {
  const states: SubscriptionState[] = [];
  const unknown: string[] = [];
  const failures: unknown[] = [];
  const customer = await readCustomer(app, organisationId);
  if (customer === null) return { states, unknown, failures };

  const { id: customerId, isGone } = customer;
  await collect(failures, async () => {
    try {
      states.push(...(await syncCustomer(app, ask, { organisationId, customerId, holder })));
      if (!isGone) await confirmCustomer(app, customerId);
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error;
      if (!isGone && (await checkCustomer(app, ask, { organisationId, customerId })) === 'unknown')
        unknown.push(customerId);
    }
  });
  return { states, unknown, failures };
}

/** Returns whether the subscription's customer was deleted, which ends its subscriptions. */
async function endedWithCustomer(app: App, ask: Ask, { organisationId, customerId }: SyncedRow): Promise<boolean> {
  return (await checkCustomer(app, ask, { organisationId, customerId })) === 'deleted';
}

type SyncedRow = Awaited<ReturnType<typeof rowOf>> & object;

const rowColumns = {
  id: paymentSubscriptions.id,
  organisationId: paymentSubscriptions.organisationId,
  customerId: paymentSubscriptions.customerId,
  lastEventNumber: paymentSubscriptions.lastEventNumber,
};

async function rowOf(app: App, id: string) {
  const [row] = await rowById(app.db).execute({ id });
  return row ?? null;
}

const rowById = prepared((db) =>
  db
    .select(rowColumns)
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, sql.placeholder('id')))
    .prepare('subscription_to_sync'),
);
