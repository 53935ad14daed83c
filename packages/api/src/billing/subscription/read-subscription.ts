import { sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Reader } from '../../auth/principal.ts';
import { type PlanFacts, planFacts } from '../../organisations/plan-facts.ts';
import { type UsageFacts, usageFacts } from '../../organisations/usage-facts.ts';
import { prepared } from '../../platform/db/client.ts';
import {
  noticeFrom,
  openPaymentProblem,
  type PaymentNotice,
  type PaymentProblem,
} from '../entitlement/payment-notice.ts';
import { type OrganisationPlan, planFrom } from '../entitlement/read-plan.ts';
import type { Price, Tier } from '../plans/plans.ts';
import { livePrices } from '../prices/live-prices.ts';
import type { LivePrices } from '../prices/price-cache.ts';
import { type Meter, type MeterReading, readingsFrom } from '../usage/meter.ts';
import { historiesFrom, type MeterHistory, rangeOf, usageDays } from '../usage/read-history.ts';

/** GET /api/subscription (interface §2). Amounts in minor units, times in ISO 8601. */
type SubscriptionSummary = {
  organisation: { id: string; slug: string; name: string | null };
  plan: PlanSummary;
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

type TierSummary = {
  tier: Tier;
  name: string;
  price: Price | null;
  price_source: 'provider' | 'declared';
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
};

/** The summary with the facts that only the billing page shows. */
type SubscriptionOverview = Omit<SubscriptionSummary, 'plan' | 'usage'> & {
  plan: PlanSummary & {
    /** When the scheduled end came, until an event or the provider's answer confirms it; otherwise null. */
    ended_unconfirmed_at: string | null;
  };
  /** `resets` is the kind of period that a counter follows; null for a gauge. */
  usage: (MeterReading & { resets: Meter['resets'] | null })[];
  /** The open payment problem; null for members who are not administrators, and while billing is off. */
  notice: PaymentNotice | null;
};

/**
 * Returns an organisation's plan, its usage and the prices of all tiers. Runs no statement for a
 * session that was read with its usage, else one; and at most once a minute another two that
 * refresh the stored prices.
 *
 * @throws AppError NO_ORGANISATION.
 */
export async function readSubscription(app: App, principal: Reader): Promise<SubscriptionSummary> {
  return summaryOf(app, await readOverviewFacts(app, principal, false));
}

/**
 * Returns the summary with the payment notice and an end that is not confirmed yet, by the
 * same statement. The notice holds an address that pays the invoice without a sign-in, so
 * only administrators receive it.
 *
 * @throws AppError as `readSubscription`.
 */
export async function readOverview(app: App, principal: Reader): Promise<SubscriptionOverview> {
  const withProblem = seesNotice(app, principal);
  return overviewOf(app, await readOverviewFacts(app, principal, withProblem), withProblem);
}

/**
 * Returns the overview with the history of every meter for 30 days, by one statement.
 *
 * @throws AppError as `readSubscription`.
 */
export async function readOverviewWithHistory(
  app: App,
  principal: Reader,
): Promise<SubscriptionOverview & { history: MeterHistory[] }> {
  const { meters } = app.plans;
  const range = rangeOf(app, meters, 30);
  const withProblem = seesNotice(app, principal);
  const values = factValues(app, principal, withProblem);
  const [[row], prices] = await Promise.all([
    factsAndHistory(app.db).execute({ ...values, ...range }),
    livePrices(app),
  ]);

  const overview = overviewOf(app, overviewFacts(app, principal, row, prices), withProblem);
  return { ...overview, history: historiesFrom(meters, range.dates, row?.stored ?? null) };
}

function seesNotice(app: App, principal: Reader): boolean {
  return app.payment !== null && principal.scopes.includes('ADMIN');
}

function overviewOf(app: App, facts: OverviewFacts, hasNotice: boolean): SubscriptionOverview {
  const summary = summaryOf(app, facts);
  const endsAt = facts.current.subscription?.endsAt ?? null;
  const ended = endsAt !== null && endsAt <= app.now();
  const counters = app.plans.meters.filter(({ kind }) => kind === 'counter');
  const resets = new Map(counters.map((counter) => [counter.meter, counter.resets]));
  return {
    ...summary,
    plan: { ...summary.plan, ended_unconfirmed_at: ended ? endsAt.toISOString() : null },
    usage: summary.usage.map((reading) => ({ ...reading, resets: resets.get(reading.meter) ?? null })),
    notice: hasNotice ? noticeFrom(app, facts.problem, facts.current) : null,
  };
}

type OverviewFacts = {
  organisation: SubscriptionSummary['organisation'];
  current: OrganisationPlan;
  usage: MeterReading[];
  problem: PaymentProblem | null;
  prices: LivePrices;
};

async function readOverviewFacts(app: App, principal: Reader, withProblem: boolean): Promise<OverviewFacts> {
  const { usageFacts: known } = principal;
  const query =
    known !== null && !withProblem
      ? [{ plan: principal.planFacts, usage: known, problem: null }]
      : organisationFacts(app.db).execute(factValues(app, principal, withProblem));
  const [[row], prices] = await Promise.all([query, livePrices(app)]);
  return overviewFacts(app, principal, row, prices);
}

type FactsRow = { plan: PlanFacts | null; usage: UsageFacts; problem: PaymentProblem | null };

function overviewFacts(app: App, principal: Reader, row: FactsRow | undefined, prices: LivePrices): OverviewFacts {
  const { id, slug, name } = principal.requireOrganisation();
  const current = planFrom(app, row?.plan);
  const usage = readingsFrom(app, current, row?.usage ?? { counted: null, members: 0 });
  return { organisation: { id, slug, name }, current, usage, problem: row?.problem ?? null, prices };
}

function factValues(app: App, principal: Reader, withProblem: boolean) {
  return {
    organisationId: principal.requireOrganisation().id,
    now: app.now().toISOString(),
    withProblem,
  };
}

const factColumns = (() => {
  const organisationId = sql.placeholder('organisationId');
  const problem = openPaymentProblem(organisationId);
  return {
    plan: planFacts(organisationId),
    usage: usageFacts(organisationId, sql.placeholder('now')),
    problem: sql<PaymentProblem | null>`case when ${sql.placeholder('withProblem')}::boolean then ${problem} end`,
  };
})();

const organisationFacts = prepared((db) =>
  db.select(factColumns).from(sql`(select 1) as one`).prepare('subscription_summary'),
);

const factsAndHistory = prepared((db) =>
  db
    .select({ ...factColumns, stored: usageDays(sql.placeholder('organisationId')) })
    .from(sql`(select 1) as one`)
    .prepare('subscription_history'),
);

function summaryOf(app: App, { organisation, current, usage, prices }: OverviewFacts): SubscriptionSummary {
  return {
    organisation,
    plan: planSummaryOf(current, app.now()),
    usage,
    features: current.plan.features,
    tiers: app.plans.tiers.map(({ tier, name, price, limits, features }) => {
      const live = price === null ? null : prices[tier];
      return { tier, name, price: live ?? price, price_source: live ? 'provider' : 'declared', limits, features };
    }),
    billing_enabled: app.payment !== null,
  };
}

/**
 * Returns the public form of a plan. After an end the times are null, also while the status is
 * still the one before the end.
 */
export function planSummaryOf({ tier, plan, subscription }: OrganisationPlan, now: Date): PlanSummary {
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
