import { and, eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';
import { listAll } from '../../providers/list-all.ts';
import { type Ask, complaintOf, isMissing } from '../../providers/payment.ts';
import { checkCustomer, confirmCustomer, customersOf, leaseOf, unknownCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { isOfOurMode, ofOurMode } from '../customers/mode.ts';
import {
  isEnded,
  readSubscriptionState,
  requireSubscriptionState,
  type SubscriptionState,
} from '../projection/subscription-state.ts';
import { endUnknown } from './end-unknown.ts';
import { lastNumbers, markUnknownToProvider, storeSnapshot } from './store-snapshot.ts';

/**
 * Brings a subscription's row to what the provider says now. A subscription that the
 * provider does not know is flagged and ends nothing: a wrong key would end them all. One
 * of the other mode than our key's is not asked about.
 */
export async function syncSubscription(app: App, subscriptionId: string): Promise<void> {
  const row = await rowOf(app, subscriptionId);
  if (row === null || !isOfOurMode(app, row.livemode)) return;

  await withLease(app, leaseOf(row.organisationId), (ask, holder) => syncOne(app, ask, { ...row, holder }));
}

type Held = { holder: string };

/** Answers with what the provider said; null where it does not know the subscription. */
async function syncOne(app: App, ask: Ask, row: Row & Held): Promise<SubscriptionState | null> {
  const { id } = row;
  const number = (await rowOf(app, id))?.lastEventNumber ?? 0;
  try {
    const state = requireSubscriptionState(await ask((provider) => provider.subscriptions.retrieve(id)), id);
    await storeSnapshot(app, row, state, number);
    return state;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await markUnknownToProvider(app, row, id);
    return null;
  }
}

/** The same for a subscription that may have no row yet. */
export async function adoptSubscription(app: App, owner: Owner, id: string): Promise<void> {
  await app.db
    .insert(paymentSubscriptions)
    .values({ id, ...owner, livemode: app.payment?.livemode ?? null, needsSync: true })
    .onConflictDoNothing();
  await syncSubscription(app, id);
}

type Owner = { organisationId: string; customerId: string };

/**
 * Brings all rows of a customer to what the provider says now, and answers with it.
 * Belongs into a conversation that holds the organisation's lease.
 */
export async function syncCustomer(
  app: App,
  ask: Ask,
  owner: Owner & { holder: string },
): Promise<SubscriptionState[]> {
  const numbers = await lastNumbers(app, owner.organisationId);
  const found = await listAll(ask, (provider, place) =>
    provider.subscriptions.list({ customer: owner.customerId, status: 'all', ...place }),
  );

  const states = found.map(readSubscriptionState).filter((state) => state !== null);
  for (const state of states) await storeSnapshot(app, owner, state, numbers.get(state.id) ?? 0);
  return states;
}

/**
 * Brings all rows of an organisation, in our key's mode, to what the provider says now:
 * those of every customer that it has ever been, and by their own ids the live ones that
 * no list named. Answers with it, with the ids of the live rows and of the customers that
 * the provider does not know, and with the failures: where the provider refuses a question
 * about one of them, the others are brought up to date all the same.
 *
 * @throws AppError PROVIDER_UNAVAILABLE where the provider does not answer at all.
 */
export async function syncOrganisation(app: App, ask: Ask, owner: { organisationId: string } & Held) {
  const { states, unknown, failures } = await syncCustomers(app, ask, owner);

  const live = and(
    eq(paymentSubscriptions.organisationId, owner.organisationId),
    eq(paymentSubscriptions.ended, false),
    ofOurMode(app, paymentSubscriptions.livemode),
  );
  for (const row of await app.db.select(rowColumns).from(paymentSubscriptions).where(live)) {
    if (states.some(({ id }) => id === row.id)) continue;
    await collect(failures, async () => {
      const state = await syncOne(app, ask, { ...row, ...owner });
      if (state !== null) states.push(state);
      else if (!unknown.includes(row.customerId) && (await endedWithCustomer(app, ask, row)))
        await endUnknown(app.db, [row.id]);
      else unknown.push(row.id);
    });
  }
  return { states, unknown, failures };
}

/** Keeps the failure of a question that the provider answered; its silence would meet every further one, too. */
async function collect(failures: unknown[], act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if ((complaintOf(error)?.status ?? null) === null) throw error;
    failures.push(error);
  }
}

/**
 * The live subscriptions of an organisation, as the provider shows them now.
 *
 * @throws AppError PROVIDER_UNAVAILABLE where it does not answer about one of them or a
 *   customer, or does not know it: that may go on billing where we cannot see it.
 */
export async function liveSubscriptions(app: App, ask: Ask, owner: { organisationId: string } & Held) {
  const { states, unknown, failures } = await syncOrganisation(app, ask, owner);
  if (failures.length > 0) throw failures[0];
  if (unknown.length > 0) throw unknownCustomer();
  return states.filter((state) => !isEnded(state));
}

/** Those of before, too: one may have been given up under a wrong key. */
async function syncCustomers(app: App, ask: Ask, { organisationId, holder }: { organisationId: string } & Held) {
  const states: SubscriptionState[] = [];
  const unknown: string[] = [];
  const failures: unknown[] = [];
  for (const customer of await customersOf(app, organisationId)) {
    const { customerId, goneAt } = customer;
    await collect(failures, async () => {
      try {
        states.push(...(await syncCustomer(app, ask, { organisationId, customerId, holder })));
        if (goneAt === null) await confirmCustomer(app, customerId);
      } catch (error) {
        if (!isMissing(error, 'customer')) throw error;
        if (goneAt === null && (await checkCustomer(app, ask, customer)) === 'unknown') unknown.push(customerId);
      }
    });
  }
  return { states, unknown, failures };
}

/** A deleted customer's subscriptions ended with it. */
async function endedWithCustomer(app: App, ask: Ask, { organisationId, customerId }: Row): Promise<boolean> {
  const customers = await customersOf(app, organisationId);
  const customer = customers.find((each) => each.customerId === customerId);
  return customer !== undefined && (await checkCustomer(app, ask, customer)) === 'deleted';
}

type Row = Awaited<ReturnType<typeof rowOf>> & object;

const rowColumns = {
  id: paymentSubscriptions.id,
  organisationId: paymentSubscriptions.organisationId,
  customerId: paymentSubscriptions.customerId,
  livemode: paymentSubscriptions.livemode,
  lastEventNumber: paymentSubscriptions.lastEventNumber,
};

async function rowOf(app: App, id: string) {
  const [row] = await app.db.select(rowColumns).from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row ?? null;
}
