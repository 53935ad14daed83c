import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { gold, postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();
const card = '4242 4242 4242 4242';

/** Makes a code for a coupon. */
async function code(params: Stripe.CouponCreateParams, more: { max_redemptions?: number } = {}) {
  const { id } = await setup.stripe.coupons.create(params);
  return setup.stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: id }, code: 'SPRING', ...more });
}

async function checkout(params: Partial<Stripe.Checkout.SessionCreateParams> = {}): Promise<Stripe.Checkout.Session> {
  const { id: customer } = await setup.stripe.customers.create({});
  return setup.stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: silver, quantity: 1 }],
    allow_promotion_codes: true,
    success_url: 'http://localhost:3000/billing?checkout=success',
    ...params,
  });
}

async function bought({ customer }: Stripe.Checkout.Session): Promise<Stripe.Subscription> {
  const expand = ['data.discounts.source.coupon', 'data.latest_invoice'];
  const { data } = await setup.stripe.subscriptions.list({ customer: customer as string, expand });
  return data[0] as Stripe.Subscription;
}

/** The totals of a customer's invoices, the oldest first. */
async function totals(customer: Stripe.Subscription['customer']): Promise<number[]> {
  const { data } = await setup.stripe.invoices.list({ customer: customer as string, limit: 100 });
  return data.map(({ total }) => total).toReversed();
}

test('a code lowers the total of the checkout and the invoices of its months, and its end is shown', async () => {
  await code({ percent_off: 25, duration: 'repeating', duration_in_months: 2, name: 'Spring' });
  const session = await checkout();
  const applied = await postForm(session.url as string, { promotion_code: 'spring', apply: '1' });
  expect(await applied.text()).toMatch(/Discount<\/dt><dd>−£6.00.*Pay £18.00/s);
  expect((await postForm(session.url as string, { card })).status).toBe(303);

  const { id, discounts, customer } = await bought(session);
  const [discount] = discounts as Stripe.Discount[];
  expect(discount).toMatchObject({ source: { coupon: { percent_off: 25, name: 'Spring' } }, subscription: id });
  const months =
    new Date((discount?.end as number) * 1000).getUTCMonth() -
    new Date((discount?.start as number) * 1000).getUTCMonth();
  expect((months + 12) % 12).toBe(2);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  expect(await totals(customer)).toEqual([1800, 1800, 2400]);
  expect((await bought(session)).discounts).toEqual([]);
});

test('a coupon that is given once lowers the first invoice that has an amount', async () => {
  await code({ amount_off: 500, currency: 'gbp', duration: 'once' });
  const session = await checkout({ subscription_data: { trial_period_days: 14 } });
  await postForm(session.url as string, { card, promotion_code: 'SPRING' });
  const { id, customer, discounts } = await bought(session);
  expect(discounts).toHaveLength(1);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  expect(await totals(customer)).toEqual([0, 1900, 2400]);
});

test('a code is refused that is unknown, used up, inactive, in another currency, or not asked for', async () => {
  const { id } = await code({ percent_off: 10, duration: 'forever' }, { max_redemptions: 1 });
  const enter = async (params = {}) => {
    const { url } = await checkout(params);
    return (await postForm(url as string, { card, promotion_code: 'SPRING' })).status;
  };
  expect(await enter({ allow_promotion_codes: false })).toBe(402);
  expect(await enter()).toBe(303);
  expect(await enter()).toBe(402);
  await setup.stripe.promotionCodes.update(id, { active: false });
  await code({ amount_off: 500, currency: 'eur', duration: 'once' });
  expect(await enter()).toBe(402);
  await expect(code({ percent_off: 10 })).rejects.toMatchObject({ param: 'code' });
  await expect(setup.stripe.coupons.create({ percent_off: 10, amount_off: 1 })).rejects.toMatchObject({
    statusCode: 400,
  });
});

test('a discount that the company gives lowers the renewal and a change of plan, until it is taken away', async () => {
  const { id, customer } = await setup.buy();
  const { id: coupon } = await setup.stripe.coupons.create({ percent_off: 50, duration: 'forever' });
  setup.sandbox.payment.discount(id, coupon);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  expect(await totals(customer)).toEqual([2400, 1200]);
  const [item] = (await setup.stripe.subscriptions.retrieve(id)).items.data;
  await setup.stripe.subscriptions.update(id, {
    items: [{ id: item?.id as string, price: gold }],
    proration_behavior: 'always_invoice',
  });
  const difference = (await totals(customer)).at(-1) as number;
  expect(difference).toBeGreaterThan(0);
  expect(difference).toBeLessThanOrEqual((7900 - 2400) / 2);
  setup.sandbox.payment.discount(id, null);
  expect((await setup.stripe.subscriptions.retrieve(id)).discounts).toEqual([]);
});
