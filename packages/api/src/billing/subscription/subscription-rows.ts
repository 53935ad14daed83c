import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { type PlanRow, planColumns } from '../../organisations/plan.ts';
import { type Executor, prepared } from '../../platform/db/client.ts';
import {
  organisationPlans,
  paymentKnownPrices,
  planOverrides,
  paymentSubscriptions as subscription,
} from '../../platform/db/schema/billing.ts';
import type { SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import type { OverrideRow } from '../entitlement/override.ts';
import { type TierMatch, tierOfSubscription } from './match-tier.ts';
import { columnsOf, detailColumnsOf, type NextPlan, type SubscriptionRow } from './newer-state.ts';

/** The limit of ended subscriptions that are read, so that a long history costs no time. */
const maxEnded = 10;

/** What is stored of an organisation's billing: its subscriptions and override, and the plan that was decided by them. */
export type StoredRows = { plan: PlanRow | null; override: OverrideRow | null; rows: SubscriptionRow[] };

/**
 * Reads an organisation's plan and what decides it, its override and its subscriptions, by one statement: every one that has not ended,
 * the newest ended ones, and the named one whatever organisation it belongs to. The caller holds the lock of the
 * organisation's row.
 */
export async function readRows(
  db: Executor,
  { organisationId, subscriptionId = null }: { organisationId: string; subscriptionId?: string | null },
): Promise<StoredRows> {
  const found = await storedRows(db).execute({ organisationId, subscriptionId });
  return {
    plan: found[0]?.plan ?? null,
    override: found[0]?.override ?? null,
    rows: found.flatMap(({ row }) => row ?? []),
  };
}

const storedRows = prepared((db) => {
  const isTheirs = eq(subscription.organisationId, sql.placeholder('organisationId'));
  const live = db
    .select({ id: subscription.id })
    .from(subscription)
    .where(and(isTheirs, eq(subscription.ended, false)));
  const newestEnded = db
    .select({ id: subscription.id })
    .from(subscription)
    .where(and(isTheirs, subscription.ended))
    .orderBy(desc(subscription.startedAt), desc(subscription.id))
    .limit(maxEnded);
  // A union, because of conditions joined by "or" the database would read every organisation's rows.
  const ids = sql`(${live} union ${newestEnded} union select ${sql.placeholder('subscriptionId')}::text)`;
  return db
    .select({ row: getTableColumns(subscription), plan: planColumns, override: getTableColumns(planOverrides) })
    .from(sql`(select 1) as one`)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, sql.placeholder('organisationId')))
    .leftJoin(planOverrides, eq(planOverrides.organisationId, sql.placeholder('organisationId')))
    .leftJoin(subscription, sql`${subscription.id} in ${ids}`)
    .prepare('payment_rows');
});

/** Returns the row of a subscription; null if there is none. */
export async function readRow(db: Executor, id: string): Promise<SubscriptionRow | null> {
  const [row] = await db.select().from(subscription).where(eq(subscription.id, id));
  return row ?? null;
}

/** Returns the columns that a state gives, and the price that it shows for the first time. */
export async function readColumns(app: App, db: Executor, state: SubscriptionState) {
  const match = await tierOfSubscription(app, db, state);
  const details = detailColumnsOf(state, await nextPlanOf(app, db, state));
  const columns = { ...columnsOf(state, match), amount: await amountOf(app, db, state) };
  return { columns, details, newPrice: newPriceOf(state, match) };
}

/**
 * Returns what a subscription costs in its own currency. Its prices show their amounts in theirs alone; the others are
 * known from a look-up. Null if one is not known.
 */
async function amountOf(
  { priceCache }: App,
  db: Executor,
  { currency, price, items }: SubscriptionState,
): Promise<number | null> {
  if (price === null || currency === null || price.currency === currency) return price?.amount ?? null;

  const known = () =>
    items.map(({ priceId, quantity }) => {
      const unit = priceCache.knownPrices.find((each) => each.priceId === priceId)?.amounts?.[currency];
      return unit === undefined ? null : unit * quantity;
    });
  // Another node may have looked them up.
  if (known().includes(null)) priceCache.knownPrices = await db.select().from(paymentKnownPrices);
  return known().reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0);
}

/** Returns the plan of the phase that a schedule begins next; null without one. Its price stands there by its id alone. */
async function nextPlanOf(app: App, db: Executor, { details }: SubscriptionState): Promise<NextPlan | null> {
  if (details === null || details.nextPhase == null) return null;
  const { items } = details.nextPhase;
  const match = await tierOfSubscription(app, db, { items, metadata: { organisation: null, tier: null } });
  const known = () => app.priceCache.knownPrices.find((each) => each.priceId === match.priceId);
  // Another node may have looked it up.
  if (known() === undefined) app.priceCache.knownPrices = await db.select().from(paymentKnownPrices);
  return { tier: match.tier, interval: known()?.interval ?? null };
}

/**
 * A price that is found by its lookup key is remembered: once another price has taken the key over, its id decides. One
 * that its metadata map is not, so that other metadata decide anew.
 */
function newPriceOf({ items }: SubscriptionState, { tier, source, priceId }: TierMatch) {
  if (source !== 'lookup_key' || priceId === null || tier === null) return null;
  return { priceId, productId: items.find((item) => item.priceId === priceId)?.productId ?? null, tier };
}
