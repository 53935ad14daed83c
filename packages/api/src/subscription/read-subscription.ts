import { sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { type OrganisationPlan, planFrom } from '../billing/entitlement/read-plan.ts';
import type { Price, Tier } from '../billing/plans/plans.ts';
import { livePrices } from '../billing/prices/live-prices.ts';
import { prepared } from '../db/client.ts';
import { planFacts } from '../organisations/plan-facts.ts';
import { organisationOf, type Principal } from '../sessions/principal.ts';
import { monthStart } from '../usage/meter.ts';
import { type MeterReading, readingsFrom, usageFacts } from '../usage/read-usage.ts';

/** GET /api/subscription (interface §2). Amounts in minor units, times in ISO 8601. */
export type SubscriptionSummary = {
  organisation: { id: string; slug: string; name: string | null };
  plan: {
    /** What the organisation is entitled to. */
    tier: Tier;
    name: string;
    /** The subscription's own status; 'none' without one. */
    status: string;
    cancel_at_period_end: boolean;
    current_period_end: string | null;
    ends_at: string | null;
  };
  usage: MeterReading[];
  features: Record<string, boolean>;
  tiers: {
    tier: Tier;
    name: string;
    price: Price | null;
    price_source: 'provider' | 'declared';
    limits: Record<string, number | null>;
    features: Record<string, boolean>;
  }[];
  billing_enabled: boolean;
};

/** The plan, the use of it and what the others cost, for every member to see: one query. */
export async function readSubscription(app: App, principal: Principal): Promise<SubscriptionSummary> {
  principal.require('READ');
  const { id, slug, name } = organisationOf(principal);

  const query = summaryFacts(app.db).execute({ organisationId: id, month: monthStart(app.now(), 0).toISOString() });
  const [[facts], prices] = await Promise.all([query, livePrices(app)]);
  const current = planFrom(app, facts?.plan);

  return {
    organisation: { id, slug, name },
    plan: describe(current, app.now()),
    usage: readingsFrom(app, current.plan, facts ?? { counted: null, members: 0 }),
    features: current.plan.features,
    tiers: app.plans.tiers.map(({ tier, name, price, limits, features }) => {
      const live = price === null ? null : prices[tier];
      return { tier, name, price: live ?? price, price_source: live ? 'provider' : 'declared', limits, features };
    }),
    billing_enabled: app.payment !== null,
  };
}

const summaryFacts = prepared((db) => {
  const organisationId = sql.placeholder('organisationId');
  return db
    .select({
      plan: planFacts(organisationId),
      ...usageFacts(organisationId, sql`${sql.placeholder('month')}::timestamptz`),
    })
    .from(sql`(select 1) as one`)
    .prepare('subscription_summary');
});

/** Once the plan has ended its times say nothing more. */
function describe({ tier, plan, subscription }: OrganisationPlan, now: Date): SubscriptionSummary['plan'] {
  const over = subscription?.endsAt != null && subscription.endsAt <= now;
  const times = over ? null : subscription;
  return {
    tier,
    name: plan.name,
    status: subscription?.status ?? 'none',
    cancel_at_period_end: times?.cancelAtPeriodEnd ?? false,
    current_period_end: times?.currentPeriodEnd?.toISOString() ?? null,
    ends_at: times?.endsAt?.toISOString() ?? null,
  };
}
