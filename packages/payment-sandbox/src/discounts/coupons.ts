import type Stripe from 'stripe';
import { announce } from '../events/announce.ts';
import { now, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Coupon } from '../provider/records.ts';
import { missing, missingParameter, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';

export const couponRoutes = [
  route<Stripe.CouponCreateParams>(
    'POST',
    '/v1/coupons',
    {
      amount_off: 'integer',
      applies_to: 'unsupported',
      currency: 'string',
      currency_options: 'unsupported',
      duration: { one: ['forever', 'once', 'repeating'] },
      duration_in_months: 'integer',
      id: 'string',
      max_redemptions: 'integer',
      metadata: 'metadata',
      name: 'string',
      percent_off: 'number',
      redeem_by: 'integer',
    },
    create,
  ),
  route<Stripe.CouponRetrieveParams>('GET', '/v1/coupons/:id', {}, ({ provider, id }) => findCoupon(provider, id)),
  route<Stripe.CouponListParams>(
    'GET',
    '/v1/coupons',
    { ...pageRules, created: rangeRule },
    ({ provider, params, path }) => {
      const all = Object.values(provider.state.coupons).filter((coupon) => createdIn(coupon, params.created));
      return listPage(path, all, params, 'coupon');
    },
  ),
];

/** @throws ApiError resource_missing if there is no such coupon. */
export function findCoupon(provider: Provider, id: string, param = 'coupon'): Coupon {
  const coupon = provider.state.coupons[id];
  if (!coupon) throw missing('coupon', id, param);
  return coupon;
}

function create({ provider, params }: Call<Stripe.CouponCreateParams>): Coupon {
  checkParameters(params);
  const id = params.id ?? newId('', 8).slice(1);
  if (provider.state.coupons[id])
    throw refused('Coupon already exists.', { code: 'resource_already_exists', param: 'id' });
  const coupon: Coupon = {
    id,
    object: 'coupon',
    amount_off: params.amount_off ?? null,
    created: now(provider),
    currency: params.currency?.toLowerCase() ?? null,
    duration: params.duration ?? 'once',
    duration_in_months: params.duration_in_months ?? null,
    livemode: false,
    max_redemptions: params.max_redemptions ?? null,
    metadata: mergeMetadata({}, params.metadata),
    name: params.name ?? null,
    percent_off: params.percent_off ?? null,
    redeem_by: params.redeem_by ?? null,
    times_redeemed: 0,
    valid: true,
  };
  provider.state.coupons[id] = coupon;
  announce(provider, 'coupon.created', coupon);
  return coupon;
}

function checkParameters(params: Stripe.CouponCreateParams): void {
  const { amount_off: amount, percent_off: percent, currency, duration, duration_in_months: months } = params;
  if ((amount === undefined) === (percent === undefined))
    throw refused('You must pass exactly one of percent_off or amount_off.', { param: 'percent_off' });
  if (amount !== undefined && currency === undefined) throw missingParameter('currency');
  if (percent !== undefined && (percent <= 0 || percent > 100))
    throw refused('percent_off must be greater than 0 and at most 100.', { param: 'percent_off' });
  if ((duration === 'repeating') !== (months !== undefined))
    throw refused('duration_in_months must be given with duration `repeating`, and only then.', {
      param: 'duration_in_months',
    });
}

/** Whether a coupon can be redeemed: it has not expired, is not used up, and an amount is in this currency. */
export function isRedeemable(
  provider: Provider,
  coupon: Coupon,
  { customer, currency }: { customer: string | null; currency: string | null },
): boolean {
  if (coupon.max_redemptions !== null && coupon.times_redeemed >= coupon.max_redemptions) return false;
  if (coupon.redeem_by !== null && coupon.redeem_by <= timeOfCustomer(provider, customer ?? '')) return false;
  return coupon.currency === null || coupon.currency === currency;
}
