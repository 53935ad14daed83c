import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentCustomers, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { textOf } from '../../platform/errors.ts';
import type { SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { allSubscriptions, type ListedState } from '../../platform/providers/payment/subscriptions.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { confirmCustomers, recoverCustomer } from '../customers/customer.ts';
import { applyMissed, applyUndelivered } from '../events/apply-undelivered.ts';
import { isSame, type SubscriptionRow } from '../subscription/newer-state.ts';
import { readColumns } from '../subscription/subscription-rows.ts';
import type { Report } from './report.ts';
import { type SyncRound, startRound } from './sync-round.ts';

/**
 * Does the work of all billing jobs at once: applies the undelivered events and compares all
 * subscriptions. It is safe at any time. A subscription that cannot be synced is reported and its
 * row stays marked for a sync.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE.
 */
export async function reconcileAll(app: App): Promise<Report> {
  await applyUndelivered(app);
  await applyMissed(app);
  return compareAll(app);
}

/**
 * Compares all of the provider's subscriptions, in pages of 100, with the local rows, syncs
 * those that differ or need it, and returns what an operator should look at. A subscription that cannot
 * be synced does not stop the others.
 *
 * @throws AppError BILLING_UNAVAILABLE; PROVIDER_UNAVAILABLE, also if the provider's list is incomplete: no
 *   subscription is then taken for one that the provider does not list.
 */
export async function compareAll(app: App, round = startRound(app)): Promise<Report> {
  const { ask } = requirePayment(app);
  const seen = new Set<string>();
  const unknownOrganisations: Report['unknownOrganisations'] = [];

  for await (const states of allSubscriptions(ask)) {
    const rows = await rowsOf(app, states);
    const owners = await ownersOf(app, states);
    await confirmCustomers(
      app,
      states.map(({ customerId }) => customerId),
    );
    for (const state of states) {
      seen.add(state.id);
      const row = rows.get(state.id);
      // The list holds subscriptions that expired before their first payment: there are more every day.
      if (row?.ended && row.status === state.status && !row.needsSync) continue;
      const owner =
        row?.organisationId ?? owners.get(state.customerId) ?? (await recoverOwner(app, state, owners, round));
      if (owner === undefined) {
        if (state.metadata.organisation !== null && !round.leftOut.has(state.id)) {
          unknownOrganisations.push({ subscription: state.id, organisation: state.metadata.organisation });
        }
      } else if (row === undefined || (await differs(app, row, state))) {
        await round.sync({ id: state.id, organisationId: owner, customerId: state.customerId });
      } else if (row.needsSync || row.tierSource !== 'price' || row.problem !== null || state.problem !== null) {
        // By now its price may be known, or its problem solved or another one.
        await round.sync(row);
      }
    }
  }

  for (const row of await liveRows(app)) {
    if (!seen.has(row.id)) await round.sync(row);
  }
  return {
    subscriptions: seen.size,
    repaired: [...round.repaired.keys()],
    drift: [...round.repaired].map(([id, differences]) => ({ subscription: id, differences })),
    leftOut: [...round.leftOut].map(([id, why]) => ({ subscription: id, why })),
    unknownOrganisations,
    ...(await localFindings(app)),
  };
}

/**
 * Returns the organisation that the metadata name, if the provider confirms that the customer was created for it, and
 * adds that customer to `owners`. A subscription whose customer could not be asked about is left out of the round.
 */
async function recoverOwner(
  app: App,
  { id, customerId, metadata }: SubscriptionState,
  owners: Map<string, string>,
  round: SyncRound,
): Promise<string | undefined> {
  const { organisation } = metadata;
  if (organisation === null) return undefined;
  try {
    const recovered = await recoverCustomer(app, organisation);
    if (recovered !== null) owners.set(recovered, organisation);
    return owners.get(customerId);
  } catch (error) {
    app.log.warn('The customer of an organisation could not be determined.', { organisation, error });
    round.leftOut.set(id, textOf(error));
    return undefined;
  }
}

async function rowsOf(app: App, states: SubscriptionState[]): Promise<Map<string, SubscriptionRow>> {
  const ids = states.map(({ id }) => id);
  const rows = await app.db.select().from(subscription).where(inArray(subscription.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

async function ownersOf(app: App, states: SubscriptionState[]): Promise<Map<string, string>> {
  const ids = states.map(({ customerId }) => customerId);
  const rows = await app.db
    .select({ customerId: paymentCustomers.customerId, organisationId: paymentCustomers.organisationId })
    .from(paymentCustomers)
    .where(inArray(paymentCustomers.customerId, ids));
  return new Map(rows.flatMap((row) => (row.customerId === null ? [] : [[row.customerId, row.organisationId]])));
}

/** Whether a row lacks what a sync would write. */
async function differs(app: App, row: SubscriptionRow, state: ListedState): Promise<boolean> {
  const { tier, tierSource: _, ...columns } = (await readColumns(app, app.db, state)).columns;
  return (
    row.customerId !== state.customerId ||
    (state.shownTrouble !== undefined && row.invoiceTrouble !== state.shownTrouble) ||
    // The list tells no phases, so a schedule is read where there is one, and where there is none any more.
    (state.scheduleId === null) !== (row.nextTierAt === null) ||
    // A tier that the plans no longer hold stays in the row, which names it to the operator.
    (tier !== null && tier !== row.tier) ||
    !isSame(row, columns)
  );
}

function liveRows(app: App): Promise<SubscriptionRow[]> {
  return app.db.select().from(subscription).where(eq(subscription.ended, false));
}

async function localFindings(app: App) {
  const live = await liveRows(app);
  const several = await app.db
    .select({ organisation: subscription.organisationId, subscriptions: sql<string[]>`array_agg(${subscription.id})` })
    .from(subscription)
    .where(and(eq(subscription.ended, false), isNotNull(subscription.status)))
    .groupBy(subscription.organisationId)
    .having(sql`count(*) > 1`);
  const dead = await app.db
    .select({ organisation: paymentCustomers.organisationId, customer: paymentCustomers.customerId })
    .from(paymentCustomers)
    .where(isNotNull(paymentCustomers.goneAt));
  const unknown = await app.db
    .select({ organisation: paymentCustomers.organisationId, customer: paymentCustomers.customerId })
    .from(paymentCustomers)
    .where(and(isNotNull(paymentCustomers.problem), isNull(paymentCustomers.goneAt)));

  return {
    severalLive: several,
    unmappedPrices: live
      .filter(
        ({ status, tier, tierSource }) =>
          status !== null && (!app.plans.tiers.some((each) => each.tier === tier) || tierSource === 'metadata'),
      )
      .map(({ id, priceId, tier }) => ({ subscription: id, price: priceId, tier })),
    deletedCustomers: dead,
    unknownCustomers: unknown,
    problems: live.flatMap(({ id, problem }) => (problem === null ? [] : [{ subscription: id, problem }])),
  };
}
