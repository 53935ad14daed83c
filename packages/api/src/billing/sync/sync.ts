import { and, eq, inArray, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { type Ask, isMissing, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { isEnded, type SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { readSubscription, subscriptionsOf } from '../../platform/providers/payment/subscriptions.ts';
import { checkCustomer, confirmCustomers, leaseOf, readCustomer, unknownCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { decideAnew } from '../entitlement/decide-plan.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import { markUnknownToProvider, type SubscriptionOwner, storeAnswer, versionsOf } from './store-answer.ts';

/**
 * Fetches a subscription from the provider and updates its row. A subscription that the
 * provider does not know is flagged but does not end, because a wrong key would end them all. An action, for which a user
 * waits, has the limits of `withLease`.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE; Error if the answer cannot be read.
 */
export async function syncSubscription(app: App, subscriptionId: string, as: 'action' | 'job' = 'job'): Promise<void> {
  const row = await readRow(app.db, subscriptionId);
  if (row === null) return;

  await withLease(app, leaseOf(row.organisationId), (ask) => syncOne(app, ask, row), as);
}

/**
 * Asks the provider about a subscription and stores its answer, unless an event arrived meanwhile: then the sync that
 * follows that event asks again. Returns the answer; null if the provider does not know the subscription.
 */
async function syncOne(app: App, ask: Ask, row: SubscriptionRow): Promise<SubscriptionState | null> {
  const { id } = row;
  const version = (await readRow(app.db, id))?.version ?? null;
  const answer = await retrieve(ask, id);
  if (answer === null) await markUnknownToProvider(app, row, version);
  else await storeAnswer(app, row, answer, version);
  return answer?.state ?? null;
}

/** Returns the provider's answer about a subscription; null if it does not know it. */
async function retrieve(ask: Ask, id: string) {
  try {
    return await readSubscription(ask, id);
  } catch (error) {
    if (!isMissing(error)) throw error;
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
export async function syncCustomer(app: App, ask: Ask, owner: SubscriptionOwner): Promise<SubscriptionState[]> {
  const versions = await versionsOf(app, owner.organisationId);
  const answers = await subscriptionsOf(ask, owner.customerId);
  for (const answer of answers) await storeAnswer(app, owner, answer, versions.get(answer.state.id) ?? null);
  return answers.map(({ state }) => state);
}

/**
 * Syncs all rows of an organisation: the subscriptions of its customer, and one by one the live rows that their list
 * lacks, whatever their customer. Returns their states, the ids of the live rows and the customer that the provider
 * does not know (`unknown`), and the errors of refused requests (`failures`), which do not stop the others. The caller
 * holds the organisation's lease.
 *
 * @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer at all; Error if an answer cannot be read.
 */
export async function syncOrganisation(app: App, ask: Ask, owner: { organisationId: string }) {
  const { states, unknown, failures } = await syncCurrentCustomer(app, ask, owner);

  const live = and(
    eq(paymentSubscriptions.organisationId, owner.organisationId),
    eq(paymentSubscriptions.ended, false),
  );
  for (const row of await app.db.select().from(paymentSubscriptions).where(live)) {
    if (states.some(({ id }) => id === row.id)) continue;
    await collect(failures, async () => {
      const state = await syncOne(app, ask, row);
      if (state !== null) states.push(state);
      // A deleted customer's subscriptions have ended.
      else if (!unknown.includes(row.customerId) && (await checkCustomer(app, ask, row)) === 'deleted')
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
export async function liveSubscriptions(app: App, ask: Ask, owner: { organisationId: string }) {
  const { states, unknown, failures } = await syncOrganisation(app, ask, owner);
  if (failures.length > 0) throw failures[0];
  if (unknown.length > 0) throw unknownCustomer();
  return states.filter((state) => !isEnded(state));
}

async function syncCurrentCustomer(app: App, ask: Ask, { organisationId }: { organisationId: string }) {
  const states: SubscriptionState[] = [];
  const unknown: string[] = [];
  const failures: unknown[] = [];
  const customer = await readCustomer(app, organisationId);
  if (customer === null) return { states, unknown, failures };

  const { id: customerId, isGone } = customer;
  await collect(failures, async () => {
    try {
      states.push(...(await syncCustomer(app, ask, { organisationId, customerId })));
      if (!isGone) await confirmCustomers(app, [customerId]);
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error;
      if (!isGone && (await checkCustomer(app, ask, { organisationId, customerId })) === 'unknown')
        unknown.push(customerId);
    }
  });
  return { states, unknown, failures };
}

/**
 * Ends the rows of an organisation's subscriptions that the provider does not know, with what follows from it. The
 * caller needs proof of the end, because under a wrong key the provider knows none of them either: the provider's answer
 * that their customer was deleted, or an operator's decision. A later event or sync that shows such a subscription
 * restores its row.
 */
export async function endUnknown(app: App, tx: Transaction, organisationId: string, ids: string[]): Promise<void> {
  if (!(await lockOrganisation(tx, organisationId))) return;
  const ended = { status: 'canceled', ended: true, cancelAtPeriodEnd: false, needsSync: false, problem: null };
  const times = { currentPeriodStart: null, currentPeriodEnd: null, endsAt: null, pastDueSince: null };
  await tx
    .update(paymentSubscriptions)
    // Without the second of its state, the row is replaced by whatever the provider shows.
    .set({ ...ended, ...times, stateAt: null, undone: null, version: sql`${paymentSubscriptions.version} + 1` })
    .where(and(eq(paymentSubscriptions.organisationId, organisationId), inArray(paymentSubscriptions.id, ids)));
  await decideAnew(app, tx, organisationId);
}
