import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Reader } from '../../auth/principal.ts';
import { currentPlan, type OrganisationPlan, planColumns } from '../../organisations/plan.ts';
import { batchedRead } from '../../platform/db/batched-read.ts';
import {
  type LivePrice,
  organisationPlans,
  paymentCustomers,
  paymentSubscriptions,
} from '../../platform/db/schema/billing.ts';
import { graceEnd } from '../entitlement/rank-subscriptions.ts';
import type { Plan, Price, Tier } from '../plans/plans.ts';
import { currencyOf, fixedCurrency, type OrganisationCurrency } from '../prices/currency.ts';
import { livePrices } from '../prices/live-prices.ts';
import type { LivePrices } from '../prices/price-cache.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';
import { type MeterReading, readingsFrom, storedUsage } from '../usage/meter.ts';

/** GET /api/subscription (interface §2). Amounts in minor units, times in ISO 8601. */
export type SubscriptionSummary = {
  organisation: { id: string; slug: string; name: string | null };
  plan: PlanSummary & { price: PaidPrice };
  usage: MeterReading[];
  features: Record<string, boolean>;
  tiers: TierSummary[];
  billing_enabled: boolean;
};

type PlanSummary = {
  /** The tier that the organisation is entitled to. */
  tier: Tier;
  name: string;
  /** The subscription's own status; 'none' without a subscription. */
  status: string;
  cancel_at_period_end: boolean;
  current_period_end: string | null;
  ends_at: string | null;
};

/** What the subscription costs: all its items per interval, before tax and discounts. Null without one. */
type PaidPrice = (Price & { quantity: number }) | null;

/** A price as readers show it. */
type ShownPrice = Price & { price_source: 'provider' | 'declared' };

type TierSummary = {
  tier: Tier;
  name: string;
  price: Price | null;
  price_source: 'provider' | 'declared';
  /** All prices in the organisation's currency, where the tier has several. */
  prices?: ShownPrice[];
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
};

/**
 * Returns an organisation's plan, its usage and the prices of all tiers, by one statement; and at most once a minute
 * another two that refresh the stored prices.
 *
 * @throws AppError NO_ORGANISATION.
 */
export async function readSubscription(app: App, principal: Reader): Promise<SubscriptionSummary> {
  return summaryOf(app, await readFacts(app, principal));
}

/** What is stored and known of an organisation's plan. */
export type SubscriptionFacts = {
  organisation: SubscriptionSummary['organisation'];
  current: OrganisationPlan;
  usage: MeterReading[];
  /** When the grace of the subscription that decides the plan ends or has ended; null if it is not past due. */
  graceEndsAt: Date | null;
  /** The subscription that decides the plan, if it has not ended. */
  subscription: SubscriptionRow | null;
  anotherGoesOn: boolean;
  prices: LivePrices;
  currency: OrganisationCurrency;
};

/** Reads the plan anew, because the request may have changed it since its principal was read. */
export async function readFacts(app: App, principal: Reader): Promise<SubscriptionFacts> {
  const { id, slug, name } = principal.requireOrganisation();
  const values = { organisationId: id, now: app.now().toISOString() };
  const [[row], prices] = await Promise.all([planAndUsage(app.db).execute(values), livePrices(app)]);
  const current = currentPlan(app, row?.planRow ?? null);
  const usage = readingsFrom(app, current, row?.usage ?? { counted: null, members: 0 });
  const { status = null } = current.subscription ?? {};
  const graceDays = Math.max(app.config.pastDueGraceDays, current.agreed?.graceDays ?? 0);
  const graceEndsAt = graceEnd({ status, pastDueSince: row?.subscription?.pastDueSince ?? null }, graceDays);
  const subscription = row?.subscription?.ended === false ? row.subscription : null;
  const currency = currencyOf(app, { fixed: row?.fixedCurrency ?? null, chosen: row?.chosenCurrency ?? null });
  const anotherGoesOn = row?.anotherGoesOn ?? false;
  const organisation = { id, slug, name };
  return { organisation, current, usage, graceEndsAt, subscription, anotherGoesOn, prices, currency };
}

/** Speed (design, "The serving process"): sharing the statement brings 40 % of GET /api/subscription. */
const planAndUsage = batchedRead(['organisationId', 'now'], (db, { organisationId, now }) =>
  db
    .select({
      planRow: planColumns,
      subscription: getTableColumns(paymentSubscriptions),
      anotherGoesOn: sql<boolean>`exists (select from ${paymentSubscriptions} as another
        where another.organisation_id = ${organisationId}::uuid and not another.ended
          and (not another.cancel_at_period_end or another.ends_at > another.current_period_end) and another.status <> 'incomplete'
          and another.id <> ${organisationPlans.subscriptionId})`,
      fixedCurrency: fixedCurrency(sql`${organisationId}::uuid`),
      chosenCurrency: paymentCustomers.currency,
      usage: storedUsage(sql`${organisationId}::uuid`, now),
    })
    .from(sql`(select 1) as one`)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, sql`${organisationId}::uuid`))
    .leftJoin(paymentCustomers, eq(paymentCustomers.organisationId, sql`${organisationId}::uuid`))
    .leftJoin(paymentSubscriptions, eq(paymentSubscriptions.id, organisationPlans.subscriptionId))
    .prepare('subscription_summary'),
);

/** Returns the public form of what `readFacts` read. */
export function summaryOf(
  app: App,
  { organisation, current, usage, prices, subscription, currency }: SubscriptionFacts,
): SubscriptionSummary {
  return {
    organisation,
    plan: { ...planSummaryOf(current, app.now()), price: paidPriceOf(current, subscription, app.now()) },
    usage,
    features: current.plan.features,
    tiers: app.plans.tiers.map((plan) => tierSummary(plan, prices, currency)),
    billing_enabled: app.payment !== null,
  };
}

/** `price` is the monthly one, else the first. */
function tierSummary(plan: Plan, live: LivePrices, { currency }: OrganisationCurrency): TierSummary {
  const { tier, name, limits, features } = plan;
  const all = shownPrices(plan, live[tier] ?? [], currency);
  const first = all.find(({ interval }) => interval === 'month') ?? all[0];
  const { price_source = 'declared', ...price } = first ?? {};
  return {
    tier,
    name,
    price: first === undefined ? null : (price as Price),
    price_source,
    ...(all.length > 1 && { prices: all }),
    limits,
    features,
  };
}

/**
 * Returns a tier's prices in a currency, in the order of the plans: the provider's where a look-up has told them, else the
 * declared ones. One that is not sold in the currency is shown in its own.
 */
function shownPrices(plan: Pick<Plan, 'prices'>, live: LivePrice[], currency: string): ShownPrice[] {
  return plan.prices.map(({ interval, amounts }) => {
    const found = live.find((each) => each.for === interval)?.shown ?? null;
    const price = found ?? { interval, amounts, currency: Object.keys(amounts)[0] ?? currency };
    const shownIn = price.amounts[currency] === undefined ? price.currency : currency;
    return {
      amount: price.amounts[shownIn] ?? 0,
      currency: shownIn,
      interval: price.interval,
      price_source: found === null ? 'declared' : 'provider',
    };
  });
}

function paidPriceOf(current: OrganisationPlan, row: SubscriptionRow | null, now: Date): PaidPrice {
  const over = current.subscription?.endsAt != null && current.subscription.endsAt <= now;
  if (over || row === null || row.amount === null || row.currency === null || row.interval === null) return null;
  return { amount: row.amount, currency: row.currency, interval: row.interval, quantity: row.quantity ?? 1 };
}

/**
 * Returns the public form of a plan. After an end the times are null, also while the status is
 * still the one before the end. `ends_at` is that of what decides the tier: an override or the subscription.
 */
export function planSummaryOf({ tier, plan, source, agreed, subscription }: OrganisationPlan, now: Date): PlanSummary {
  const over = subscription?.endsAt != null && subscription.endsAt <= now;
  const times = over ? null : subscription;
  return {
    tier,
    name: plan.name,
    status: subscription?.status ?? 'none',
    cancel_at_period_end: times?.cancelAtPeriodEnd ?? false,
    current_period_end: times?.currentPeriodEnd?.toISOString() ?? null,
    ends_at: (source === 'operator' ? agreed?.until : times?.endsAt?.toISOString()) ?? null,
  };
}
