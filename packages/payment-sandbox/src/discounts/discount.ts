import { addInterval, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Coupon, Discount, Invoice, InvoiceLine, Subscription } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';
import { findCoupon, isRedeemable } from './coupons.ts';
import { findCode } from './promotion-codes.ts';

/** What names a discount: a coupon, or a code for one. */
export interface Named {
  coupon?: string;
  promotion_code?: string;
}

/**
 * Gives a subscription discounts in place of those that it has. The caller announces the change.
 *
 * @throws ApiError if a coupon or code does not exist or cannot be redeemed.
 */
export function setDiscounts(
  provider: Provider,
  subscription: Subscription,
  wanted: readonly Named[],
  checkout: string | null = null,
): void {
  const { customer, currency } = subscription;
  const at = timeOfCustomer(provider, customer);
  subscription.discounts = wanted.map(({ coupon: couponId, promotion_code: codeId }) => {
    const code = codeId === undefined ? null : findCode(provider, codeId);
    const coupon = findCoupon(provider, code?.promotion.coupon ?? couponId ?? '');
    if (!isRedeemable(provider, coupon, { customer, currency }))
      throw refused(`This coupon (\`${coupon.id}\`) cannot be redeemed.`, { param: 'discounts' });
    const discount: Discount = {
      id: newId('di'),
      object: 'discount',
      checkout_session: checkout,
      customer,
      customer_account: null,
      end: coupon.duration === 'repeating' ? addInterval(at, 'month', coupon.duration_in_months ?? 1) : null,
      invoice: null,
      invoice_item: null,
      promotion_code: code?.id ?? null,
      source: { coupon: coupon.id, type: 'coupon' },
      start: at,
      subscription: subscription.id,
      subscription_item: null,
    };
    provider.state.discounts[discount.id] = discount;
    coupon.times_redeemed += 1;
    if (code !== null) code.times_redeemed += 1;
    return discount.id;
  });
}

/**
 * Takes a subscription's discounts from the lines of a new invoice. Those whose time is over end, and one that is given
 * once ends with the first invoice of a period that it lowers.
 */
export function discountInvoice(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const standing = subscription.discounts.filter((id) => !isOver(provider, id, invoice.created));
  const given = standing.filter((id) => takeFrom(provider, id, invoice) > 0);
  if (invoice.billing_reason === 'subscription_update') return;
  subscription.discounts = standing.filter((id) => !given.includes(id) || couponOf(provider, id).duration !== 'once');
}

function couponOf(provider: Provider, id: string): Coupon {
  return findCoupon(provider, provider.state.discounts[id]?.source.coupon ?? '');
}

function isOver(provider: Provider, id: string, at: number): boolean {
  const { end = null } = provider.state.discounts[id] ?? {};
  return end !== null && end <= at;
}

/** Returns the amount that the discount takes from the whole invoice. */
function takeFrom(provider: Provider, id: string, invoice: Invoice): number {
  const coupon = couponOf(provider, id);
  let left = coupon.amount_off ?? Number.POSITIVE_INFINITY;
  let taken = 0;
  for (const line of invoice.lines.data) {
    const rest = line.amount - discountOf(line);
    // A percentage lowers the credit for unused time as well, as in billing mode `flexible`.
    const amount =
      coupon.percent_off === null ? Math.min(left, Math.max(0, rest)) : Math.round((rest * coupon.percent_off) / 100);
    if (amount === 0) continue;
    left -= amount;
    taken += amount;
    line.discount_amounts = [...(line.discount_amounts ?? []), { amount, discount: id }];
  }
  if (taken === 0) return 0;
  invoice.discounts = [...invoice.discounts, id];
  invoice.total_discount_amounts = [...(invoice.total_discount_amounts ?? []), { amount: taken, discount: id }];
  return taken;
}

function discountOf(line: InvoiceLine): number {
  return (line.discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
}

/** Returns what a coupon takes from an amount in minor units. */
export function amountOff({ percent_off: percent, amount_off: amount }: Coupon, from: number): number {
  return percent === null ? Math.min(from, amount ?? 0) : Math.round((from * percent) / 100);
}
