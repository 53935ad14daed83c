import type Stripe from 'stripe';
import { existingCustomer } from '../customers/customers.ts';
import { announce, change } from '../events/announce.ts';
import { now, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { PromotionCode } from '../provider/records.ts';
import { missing, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { findCoupon, isRedeemable } from './coupons.ts';

export const promotionCodeRoutes = [
  route<Stripe.PromotionCodeCreateParams>(
    'POST',
    '/v1/promotion_codes',
    {
      active: 'boolean',
      code: 'string',
      customer: 'string',
      customer_account: 'unsupported',
      expires_at: 'integer',
      max_redemptions: 'integer',
      metadata: 'metadata',
      promotion: { hash: { type: { one: ['coupon'] }, coupon: 'string' }, required: ['type', 'coupon'] },
      restrictions: 'unsupported',
    },
    create,
    ['promotion'],
  ),
  route<Stripe.PromotionCodeRetrieveParams>('GET', '/v1/promotion_codes/:id', {}, ({ provider, id }) =>
    findCode(provider, id),
  ),
  route<Stripe.PromotionCodeUpdateParams>(
    'POST',
    '/v1/promotion_codes/:id',
    { active: 'boolean', metadata: 'metadata', restrictions: 'unsupported' },
    ({ provider, id, params }) =>
      change(provider, 'promotion_code.updated', findCode(provider, id), (code) => {
        if (params.active !== undefined) code.active = params.active;
        if (params.metadata !== undefined) code.metadata = mergeMetadata(code.metadata, params.metadata);
      }),
  ),
  route<Stripe.PromotionCodeListParams>(
    'GET',
    '/v1/promotion_codes',
    {
      ...pageRules,
      active: 'boolean',
      code: 'string',
      coupon: 'string',
      created: rangeRule,
      customer: 'string',
      customer_account: 'unsupported',
    },
    list,
  ),
];

/** @throws ApiError resource_missing if there is no such promotion code. */
export function findCode(provider: Provider, id: string, param = 'promotion_code'): PromotionCode {
  const code = provider.state.promotion_codes[id];
  if (!code) throw missing('promotion code', id, param);
  return code;
}

function create({ provider, params }: Call<Stripe.PromotionCodeCreateParams>): PromotionCode {
  const coupon = findCoupon(provider, params.promotion.coupon ?? '', 'promotion[coupon]');
  if (params.customer) existingCustomer(provider, params.customer, 'customer');
  const text = params.code ?? newId('', 8).slice(1).toUpperCase();
  if (!/^[A-Za-z0-9-]+$/.test(text))
    throw refused('Codes may only contain letters, digits and dashes.', { param: 'code' });
  const active = Object.values(provider.state.promotion_codes).filter((each) => each.active);
  if (active.some((each) => isCode(each, text)))
    throw refused('An active promotion code with this code already exists.', { param: 'code' });
  const code: PromotionCode = {
    id: newId('promo'),
    object: 'promotion_code',
    active: params.active ?? true,
    code: text,
    created: now(provider),
    customer: params.customer ?? null,
    customer_account: null,
    expires_at: params.expires_at ?? null,
    livemode: false,
    max_redemptions: params.max_redemptions ?? null,
    metadata: mergeMetadata({}, params.metadata),
    promotion: { coupon: coupon.id, type: 'coupon' },
    restrictions: { first_time_transaction: false, minimum_amount: null, minimum_amount_currency: null },
    times_redeemed: 0,
  };
  provider.state.promotion_codes[code.id] = code;
  announce(provider, 'promotion_code.created', code);
  return code;
}

function isCode({ code }: PromotionCode, text: string): boolean {
  return code.toLowerCase() === text.toLowerCase();
}

function list({ provider, params, path }: Call<Stripe.PromotionCodeListParams>) {
  const all = Object.values(provider.state.promotion_codes).filter(
    (each) =>
      createdIn(each, params.created) &&
      (params.active === undefined || each.active === params.active) &&
      (params.code === undefined || isCode(each, params.code)) &&
      (params.coupon === undefined || each.promotion.coupon === params.coupon) &&
      (params.customer === undefined || each.customer === params.customer),
  );
  return listPage(path, all, params, 'promotion code');
}

/** Returns the code that a buyer enters; null if it cannot be used for this customer and currency. Case does not matter. */
export function usableCode(
  provider: Provider,
  text: string,
  { customer, currency }: { customer: string | null; currency: string | null },
): PromotionCode | null {
  const code = Object.values(provider.state.promotion_codes).find((each) => each.active && isCode(each, text));
  if (code === undefined || (code.customer !== null && code.customer !== customer)) return null;
  const isSpent = code.max_redemptions !== null && code.times_redeemed >= code.max_redemptions;
  const isOver = code.expires_at !== null && code.expires_at <= timeOfCustomer(provider, customer ?? '');
  if (isSpent || isOver) return null;
  return isRedeemable(provider, findCoupon(provider, code.promotion.coupon), { customer, currency }) ? code : null;
}
