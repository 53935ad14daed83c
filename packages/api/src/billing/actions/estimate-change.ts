import { eq } from 'drizzle-orm';
import type { Administrator } from '../../auth/principal.ts';
import { requireSameOrganisationIfNamed } from '../../auth/sessions/require-same-organisation.ts';
import { organisationPlans, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { changedItem, previewChange } from '../../platform/providers/payment/plan-change.ts';
import type { Interval, Price } from '../plans/plans.ts';
import { livePrices } from '../prices/live-prices.ts';
import { portalConfiguration } from '../prices/portal-configuration.ts';
import { type BillingApp, takeBillingAction } from './require-payment.ts';

/** What a change of plan costs. Amounts in minor units. */
export type ChangeEstimate = {
  /** Whether the change waits for the end of the paid period: a lower plan, or a shorter interval. */
  waits: boolean;
  /** What is charged now, with tax, discounts and credit; 0 for nothing. */
  due: { amount: number; currency: string };
  /** What the plan costs after that, before tax and discounts. */
  price: Price;
  /** From when that is charged, in ISO 8601. */
  from: string;
};

const boundMilliseconds = 1000;
const rising: Interval[] = ['day', 'week', 'month', 'year'];

/**
 * Returns what a change of the running plan to another tier or interval charges, as the provider computes it within a
 * second. An estimate: the page on which the user confirms it computes it again. Null where it is not known: the
 * provider does not answer, refuses, or does not sell the plan; the portal has no configuration of ours, which decides
 * when a change begins; or after too many requests.
 *
 * @throws AppError NOT_FOUND if the page was another organisation's; NO_ORGANISATION.
 */
export async function estimateChange(
  app: BillingApp,
  principal: Administrator,
  input: { tier?: unknown; interval?: unknown; organisation_id?: unknown },
): Promise<ChangeEstimate | null> {
  const organisationId = requireSameOrganisationIfNamed(principal, input.organisation_id).id;
  const change = await readChange(app, organisationId, input);
  if (change === null) return null;
  try {
    await takeBillingAction(app, principal, organisationId);
    return await askForEstimate(app, change);
  } catch (error) {
    app.log.warn('A change of plan could not be estimated; the page shows no amount.', { organisationId, error });
    return null;
  }
}

type Change = {
  subscriptionId: string;
  /** What the subscription costs now. */
  current: Price;
  /** What one unit of the wanted plan costs, in the currency of the subscription. */
  unit: Price;
  priceId: string;
};

async function readChange(
  app: BillingApp,
  organisationId: string,
  { tier, interval }: { tier?: unknown; interval?: unknown },
): Promise<Change | null> {
  const { id, ended, amount, currency, interval: every } = paymentSubscriptions;
  const [row] = await app.db
    .select({ id, ended, amount, currency, interval: every })
    .from(organisationPlans)
    .innerJoin(paymentSubscriptions, eq(id, organisationPlans.subscriptionId))
    .where(eq(organisationPlans.organisationId, organisationId));
  const sold = app.plans.sold.find((each) => each.tier === tier && (interval == null || each.interval === interval));
  if (!row || row.ended || !sold || (await portalConfiguration(app)) === null) return null;

  const live = (await livePrices(app))[sold.tier]?.find((each) => each.for === sold.interval);
  const unit = live?.shown?.amounts[row.currency ?? ''];
  if (row.amount === null || row.currency === null || row.interval === null) return null;
  if (!live?.id || !live.shown || unit === undefined) return null;
  return {
    subscriptionId: row.id,
    current: { amount: row.amount, currency: row.currency, interval: row.interval },
    unit: { amount: unit, currency: row.currency, interval: live.shown.interval },
    priceId: live.id,
  };
}

/** When a change begins is decided as in the portal's configuration. */
async function askForEstimate(
  { payment }: BillingApp,
  { subscriptionId, current, unit, priceId }: Change,
): Promise<ChangeEstimate | null> {
  const limit = { deadline: performance.now() + boundMilliseconds };
  const ask: Ask = (call) => payment.askBriefly(call, limit);
  const item = await changedItem(ask, subscriptionId);
  if (item === null) return null;

  const price = { ...unit, amount: unit.amount * item.quantity };
  const isShorter = rising.indexOf(price.interval) < rising.indexOf(current.interval);
  const waits = price.amount < current.amount || isShorter;
  const charge = waits ? { amount: 0, until: item.periodEnd } : await previewChange(ask, item, priceId);
  if (charge === null) return null;
  const due = { amount: charge.amount, currency: price.currency };
  return { waits, due, price, from: new Date(charge.until * 1000).toISOString() };
}
