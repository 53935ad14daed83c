import { expect, test } from 'vitest';
import { makeMember, makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readOverview } from '../summary/read-overview.ts';
import { syncSubscription } from '../sync/sync.ts';
import { requirePayment } from './require-payment.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest({ environment: { PAYMENT_CODES: 'true' } });
const provider = () => billing.sandbox.payment;

async function coupon(params: { percent_off: number; duration: 'once' | 'forever' | 'repeating' }): Promise<string> {
  const months = params.duration === 'repeating' ? { duration_in_months: 3 } : {};
  const { id } = await requirePayment(billing.app).ask((api) => api.coupons.create({ ...params, ...months }));
  return id;
}

const discountsOf = async (principal: Parameters<typeof readOverview>[1]) =>
  (await readOverview(billing.app, principal)).plan.discounts;

test('a checkout takes codes where they are on, and the plan shows what is taken off and until when', async () => {
  const id = await coupon({ percent_off: 25, duration: 'repeating' });
  const promotion = { type: 'coupon' as const, coupon: id };
  await requirePayment(billing.app).ask((api) => api.promotionCodes.create({ promotion, code: 'SPRING' }));
  const principal = await makeMember(billing);
  const { url } = await startCheckout(billing.app, principal, { tier: 'silver' });
  expect(ownedBy(billing, principal).sessions).toMatchObject([{ allow_promotion_codes: true }]);

  const form = new URLSearchParams({ card: '4242424242424242', promotion_code: 'spring' });
  expect((await fetch(url, { method: 'POST', body: form, redirect: 'manual' })).status).toBe(303);
  await billing.settled();
  const { plan } = await readOverview(billing.app, principal);
  expect(plan).toMatchObject({ tier: 'silver', status: 'active', price: { amount: 2400 } });
  expect(plan.discounts).toMatchObject([{ percent: 25, amount: null, once: false }]);
  const days = (Date.parse(plan.discounts[0]?.ends_at ?? '') - billing.app.now().getTime()) / 86_400_000;
  expect(days).toBeGreaterThan(85);
  expect(days).toBeLessThan(95);
});

test('a discount that the company gives is shown, and no longer once it is taken away or over', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  expect(await discountsOf(principal)).toEqual([]);
  provider().discount(subscription.id, await coupon({ percent_off: 50, duration: 'forever' }));
  await billing.settled();
  expect(await discountsOf(principal)).toEqual([{ percent: 50, amount: null, once: false, ends_at: null }]);
  provider().discount(subscription.id, null);
  await billing.settled();
  expect(await discountsOf(principal)).toEqual([]);

  provider().discount(subscription.id, await coupon({ percent_off: 50, duration: 'repeating' }));
  await billing.settled();
  const later = new Date(billing.app.now().getTime() + 100 * 86_400_000);
  const { plan } = await readOverview({ ...billing.app, now: () => later }, principal);
  expect(plan.discounts).toEqual([]);
});

test('a key that may not read coupons still reads the card, and leaves the discount that is known', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  provider().discount(subscription.id, await coupon({ percent_off: 10, duration: 'once' }));
  await billing.settled();
  provider().set({ forbidden_expansion: 'discounts' });
  provider().setCard(subscription.customer, '4000000000000341');
  await syncSubscription(billing.app, subscription.id);
  expect(await discountsOf(principal)).toEqual([{ percent: 10, amount: null, once: true, ends_at: null }]);
});
