import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Administrator } from '../../auth/principal.ts';
import { requireSameOrganisationIfNamed } from '../../auth/sessions/require-same-organisation.ts';
import { invalid } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { openCheckoutsOf } from '../../platform/providers/payment/checkouts.ts';
import { withCustomer } from '../customers/customer.ts';
import { choosePaidPlan, type Interval, type PaidTier, paidTiers } from '../plans/plans.ts';
import { liveSubscriptions } from '../sync/sync.ts';
import { gainsTrial } from '../trials/trial.ts';
import { changePlan } from './change-plan.ts';
import {
  type CheckoutContext,
  createCheckout,
  expireCheckouts,
  paymentUnderWay,
  priceOf,
  recordedCheckout,
} from './checkouts.ts';
import { type BillingApp, takeBillingAction } from './require-payment.ts';

/**
 * Returns the URL where the organisation buys or changes to a paid tier. Concurrent
 * requests share one customer and one open checkout, and never create a second live
 * subscription.
 *
 * @throws AppError VALIDATION if the tier cannot be bought; NOT_FOUND if the page was another
 *   organisation's; NO_ORGANISATION; TOO_MANY; AWAITING_APPROVAL if the approval was undone meanwhile; BUSY;
 *   PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function startCheckout(
  app: BillingApp,
  principal: Administrator,
  input: { tier?: unknown; interval?: unknown; organisation_id?: unknown },
): Promise<{ url: string }> {
  const tier = readTier(app, input.tier);
  const interval = readInterval(app, tier, input.interval);
  const organisationId = requireSameOrganisationIfNamed(principal, input.organisation_id).id;
  await takeBillingAction(app, principal, organisationId);

  const url = await withCustomer(app, organisationId, async (ask, customerId) => {
    const context = { ask, organisationId, customerId, tier, interval };
    for (let attempt = 0; attempt < 3; attempt++) {
      const found = await checkoutUrl(app, context);
      if (found !== null) return found;
    }
    throw paymentUnderWay();
  });

  const actorId = principal.user.id;
  await recordAudit(app.db, app.now(), { action: 'plan-checkout', actorId, organisationId, details: { tier } });
  return { url };
}

function readTier({ plans }: App, value: unknown): PaidTier {
  const wanted = typeof value === 'string' ? value.trim() : '';
  const tier = paidTiers(plans).find((each) => each === wanted);
  if (tier === undefined) throw invalid({ tier: choosePaidPlan(plans) });
  return tier;
}

/** The first interval by default. */
function readInterval({ plans }: App, tier: PaidTier, value: unknown): Interval {
  const intervals = plans.sold.filter((each) => each.tier === tier).map((each) => each.interval);
  const wanted = typeof value === 'string' ? value.trim() : value;
  const interval = wanted === undefined ? intervals[0] : intervals.find((each) => each === wanted);
  if (interval === undefined) throw invalid({ interval: message('choose_interval') });
  return interval;
}

/** Returns null if an open checkout was completed meanwhile: then everything has to be read again. */
async function checkoutUrl(app: App, context: CheckoutContext): Promise<string | null> {
  // Sessions are listed first, so that one paid between the two requests appears as a subscription.
  const open = await openCheckoutsOf(context.ask, context.customerId);
  const live = await liveSubscriptions(app, context.ask, context);

  if (live.length > 0) {
    return (await expireCheckouts(app, context.ask, open)) ? changePlan(app, context, live) : null;
  }

  const price = await priceOf(app, context);
  const lacksTrial = open.length > 0 && (await gainsTrial(app, context.organisationId, context.tier));
  const same = lacksTrial ? null : await recordedCheckout(app, open, price.id);
  const others = open.filter((session) => session !== same);
  if (!(await expireCheckouts(app, context.ask, others))) return null;
  return same?.url ?? (await createCheckout(app, context, price));
}
