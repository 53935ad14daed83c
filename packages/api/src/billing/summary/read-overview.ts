import type { App } from '../../app.ts';
import type { Reader } from '../../auth/principal.ts';
import type { OrganisationPlan } from '../../organisations/plan.ts';
import type { PriceTax } from '../../platform/providers/payment/prices.ts';
import { hasPaidPeriod } from '../actions/schedule-end.ts';
import { heldBy } from '../entitlement/rank-subscriptions.ts';
import { isLostToDispute } from '../entitlement/standing-disputes.ts';
import { type PaymentProblem, readPaymentProblem } from '../events/invoice-problems.ts';
import { type Plans, type Price, planOf, type Tier } from '../plans/plans.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';
import { openTrials } from '../trials/trial.ts';
import type { Meter, MeterReading } from '../usage/meter.ts';
import { type MeterHistory, readHistories } from '../usage/read-history.ts';
import { readFacts, type SubscriptionFacts, type SubscriptionSummary, summaryOf } from './read-subscription.ts';

/** What an override gives that the tier of the subscription does not. `tier` is whether it gives the tier. */
type AgreedSummary = { tier: boolean; meters: string[]; features: string[]; until: string | null };

/** A percentage or an amount that is taken from the next invoice (`once`), or from every invoice until `ends_at`; null: for good. */
type DiscountSummary = {
  percent: number | null;
  amount: { amount: number; currency: string } | null;
  once: boolean;
  ends_at: string | null;
};

/** The summary with the facts that only the billing page shows. */
type SubscriptionOverview = Omit<SubscriptionSummary, 'plan' | 'usage'> & {
  plan: SubscriptionSummary['plan'] & {
    /** When the scheduled end came, until an event or the provider's answer confirms it; otherwise null. */
    ended_unconfirmed_at: string | null;
    /**
     * What the subscription pays for, as a checkout names it: that leads to its unpaid invoice. Null without one, or if
     * the plans lack its tier; `interval` is null if the tier is not sold for its own.
     */
    pays_for: { tier: Tier; interval: Price['interval'] | null } | null;
    /** The change of plan that is scheduled; `name` is null for a price of no tier, `interval` for one that is not known. */
    change: { name: string | null; interval: Price['interval'] | null; at: string } | null;
    /** Whether it is paused because its trial ended without a card. */
    trial_ended: boolean;
    /** Whether invoices are not collected for now. */
    collection_paused: boolean;
    /** Within how many days its invoices are paid, which are sent; null if they are charged. */
    days_until_due: number | null;
    /**
     * Why the subscription gives no plan although its status would; null if it does, or if the status says why.
     * 'disputed': while a dispute is open; 'lost': after one was lost.
     */
    held: 'disputed' | 'lost' | 'uncollectible' | 'void' | null;
    /** Whether cancel ends it at once, because nobody paid for its period. */
    cancel_ends_now: boolean;
    /** Whether another subscription renews after its period, because cancel failed for it or it was made elsewhere. */
    another_goes_on: boolean;
    /**
     * When the subscription's scheduled end comes, which may be several periods ahead, whatever `ends_at` says of an
     * override; null without one.
     */
    subscription_ends_at: string | null;
    /** What was agreed with the organisation beside its subscription: its parts that the tier alone does not give. */
    agreed: AgreedSummary | null;
    /** The method that is charged, such as "visa 4242"; null without one. Only administrators receive it. */
    payment_method?: string | null;
    /** What is taken from the invoices now, before tax. */
    discounts: DiscountSummary[];
    /** What the next invoices are paid from, such as the rest of a higher plan; null without any. */
    credit: { amount: number; currency: string } | null;
  };
  /** The currency in which the organisation pays, and those that it can choose: none once a subscription has fixed it. */
  currency: { currency: string; choices: string[] };
  /** What the provider does not sell of the paid tiers, by interval: it can be neither bought nor chosen. */
  unavailable_prices: { tier: Tier; interval: Price['interval'] }[];
  /** The trials that the organisation may still have, by tier. */
  trials: Record<Tier, { days: number; card: boolean }>;
  /** Whether tax is added to the prices or is in them; null where no tax is computed. */
  tax: PriceTax | 'unspecified' | null;
  /** `resets` is the kind of period that a counter follows; null for a gauge. */
  usage: (MeterReading & { resets: Meter['resets'] | null })[];
  /** The open payment problem; null for members who are not administrators, and while billing is off. */
  notice: PaymentNotice | null;
};

/** What an administrator is told of an open payment problem or of a past-due subscription. */
type PaymentNotice = {
  /** `overdue`: an invoice that was sent is not paid in time, and no payment failed. */
  kind: 'payment_failed' | 'action_required' | 'overdue';
  /**
   * Opens and pays the invoice without a sign-in, so only administrators may receive it. Null if a checkout leads to the
   * invoice that has to be paid.
   */
  invoice_url: string | null;
  /** When the plan of a past-due subscription ends: with the grace, or with a scheduled end that comes before. */
  grace_ends_at: string | null;
  /** What is due; null if no event has told it. */
  amount: { amount: number; currency: string } | null;
  /** When the provider charges the payment method again; null if it does not. */
  next_attempt_at: string | null;
  /** The method that is charged, such as "visa 4242"; null if it is not known. */
  payment_method: string | null;
};

/**
 * Returns the summary with the payment notice and an end that is not confirmed yet. The notice holds an address that
 * pays the invoice without a sign-in, so only administrators receive it.
 *
 * @throws AppError as `readSubscription`.
 */
export async function readOverview(app: App, principal: Reader): Promise<SubscriptionOverview> {
  const isAdmin = principal.scopes.includes('ADMIN');
  const seesNotice = app.payment !== null && isAdmin;
  const { id } = principal.requireOrganisation();
  const [facts, problem, trials] = await Promise.all([
    readFacts(app, principal),
    seesNotice ? readPaymentProblem(app.db, id) : null,
    openTrials(app, id),
  ]);
  const disputed = facts.subscription?.disputed ? facts.subscription.id : null;
  const isLost = disputed !== null && (await isLostToDispute(app, disputed, null));
  const overview = overviewOf(app, facts, { notice: seesNotice ? noticeOf(problem, facts) : null, isLost });
  const card = isAdmin ? { payment_method: facts.subscription?.paymentMethod ?? null } : {};
  return { ...overview, plan: { ...overview.plan, ...card }, trials };
}

/**
 * Returns the overview with the history of every meter for 30 days.
 *
 * @throws AppError as `readSubscription`.
 */
export async function readOverviewWithHistory(
  app: App,
  principal: Reader,
): Promise<SubscriptionOverview & { history: MeterHistory[] }> {
  const { meters } = app.plans;
  const { organisationId } = principal;
  const [overview, history] = await Promise.all([
    readOverview(app, principal),
    organisationId === null ? [] : readHistories(app, organisationId, meters, 30),
  ]);
  return { ...overview, history };
}

/** The notice of an open payment problem or of a past-due subscription's grace; null if there is neither. */
function noticeOf(
  problem: PaymentProblem | null,
  { graceEndsAt, subscription }: SubscriptionFacts,
): PaymentNotice | null {
  if (problem === null && graceEndsAt === null) return null;
  const { amount = null, currency = null } = problem ?? {};
  const endsAt = subscription?.endsAt ?? null;
  const keptUntil = graceEndsAt !== null && endsAt !== null && endsAt < graceEndsAt ? endsAt : graceEndsAt;
  return {
    kind: problem?.problem ?? (subscription?.daysUntilDue == null ? 'payment_failed' : 'overdue'),
    invoice_url: problem?.url ?? null,
    grace_ends_at: keptUntil?.toISOString() ?? null,
    amount: amount === null || currency === null ? null : { amount, currency },
    next_attempt_at: problem?.nextAttemptAt?.toISOString() ?? null,
    payment_method: subscription?.paymentMethod ?? null,
  };
}

function overviewOf(
  app: App,
  facts: SubscriptionFacts,
  { notice, isLost }: { notice: PaymentNotice | null; isLost: boolean },
): Omit<SubscriptionOverview, 'trials'> {
  const summary = summaryOf(app, facts);
  const endsAt = facts.current.subscription?.endsAt ?? null;
  const ended = endsAt !== null && endsAt <= app.now();
  const counters = app.plans.meters.filter(({ kind }) => kind === 'counter');
  const resets = new Map(counters.map((counter) => [counter.meter, counter.resets]));
  return {
    ...summary,
    plan: {
      ...summary.plan,
      ended_unconfirmed_at: ended ? endsAt.toISOString() : null,
      ...aheadOf(app, ended ? null : facts.subscription, isLost),
      another_goes_on: facts.anotherGoesOn,
      discounts: ended ? [] : discountsOf(app, facts.subscription),
      agreed: agreedOf(app, facts.current),
    },
    tax: app.config.payment?.tax ? (app.priceCache.tax ?? 'unspecified') : null,
    currency: {
      currency: facts.currency.currency,
      choices: facts.currency.isFixed ? [] : app.plans.currencies,
    },
    unavailable_prices: app.payment === null ? [] : app.priceCache.unsold,
    usage: summary.usage.map((reading) => ({ ...reading, resets: resets.get(reading.meter) ?? null })),
    notice,
  };
}

/** Names what an override gives beyond the tier; null if it gives nothing now. */
function agreedOf({ plans }: App, { tier, plan, source, agreed }: OrganisationPlan): AgreedSummary | null {
  if (agreed === null) return null;
  const own = planOf(plans, tier);
  const meters = Object.keys(plan.limits).filter((meter) => plan.limits[meter] !== own.limits[meter]);
  const features = Object.keys(plan.features).filter((name) => plan.features[name] !== own.features[name]);
  const givesTier = source === 'operator';
  if (!givesTier && meters.length === 0 && features.length === 0) return null;
  return { tier: givesTier, meters, features, until: agreed.until };
}

/** What is to come for a subscription that runs, and what holds it up. */
function aheadOf({ plans, config, now }: App, row: SubscriptionFacts['subscription'], isLost: boolean) {
  const {
    nextTierAt = null,
    nextTier = null,
    nextInterval = null,
    trialEnded = false,
    collectionPaused = false,
    daysUntilDue = null,
    credit = 0,
    currency = null,
  } = row ?? {};
  const name = plans.tiers.find(({ tier }) => tier === nextTier)?.name ?? null;
  const heldByRow = row && heldBy(config, row);
  const held: SubscriptionOverview['plan']['held'] = heldByRow === 'disputed' && isLost ? 'lost' : heldByRow;
  return {
    pays_for: row && paysFor(plans, row),
    change: nextTierAt === null ? null : { name, interval: nextInterval, at: nextTierAt.toISOString() },
    trial_ended: trialEnded,
    collection_paused: collectionPaused,
    days_until_due: daysUntilDue,
    held,
    subscription_ends_at: row?.endsAt?.toISOString() ?? null,
    cancel_ends_now: row !== null && !hasPaidPeriod({ ...row, held, pausedAt: null }, now()),
    credit: credit === 0 || currency === null ? null : { amount: credit, currency },
  };
}

function paysFor(plans: Plans, { tier, interval }: SubscriptionRow): SubscriptionOverview['plan']['pays_for'] {
  const sold = plans.sold.filter((each) => each.tier === tier);
  if (tier === null || sold.length === 0) return null;
  return { tier, interval: sold.find((each) => each.interval === interval)?.interval ?? null };
}

function discountsOf(app: App, row: SubscriptionFacts['subscription']): DiscountSummary[] {
  return (row?.discounts ?? [])
    .filter(({ endsAt }) => endsAt === null || new Date(endsAt) > app.now())
    .map(({ endsAt, ...discount }) => ({ ...discount, ends_at: endsAt }));
}
