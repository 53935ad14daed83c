import { fileURLToPath } from 'node:url';
import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { paymentSettings } from '../../platform/db/schema/billing.ts';
import { makeMember, ownedBy } from '../../testing/billing.ts';
import { callerFor } from '../../testing/factories.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { refreshPrices } from '../prices/live-prices.ts';
import { portalSetting } from '../prices/portal-configuration.ts';
import { setUpBilling } from './set-up-billing.ts';
import { startCheckout } from './start-checkout.ts';

/** Three tiers, for a month and a year, in pounds and euros. */
const file = fileURLToPath(new URL('../../../../../examples/plans.json', import.meta.url));
const billing = useBillingTest({
  environment: {
    PLANS_FILE: file,
    RATE_LIMITS: 'on',
    PAYMENT_TAX: 'automatic',
    PAYMENT_PRICE_SILVER: 'own_silver',
    PAYMENT_PRICE_GOLD: 'own_gold',
  },
});
const provider = () => billing.sandbox.payment;

beforeAll(async () => {
  await setUpBilling(billing.app);
  await refreshPrices(billing.app);
  provider().registerForTax('GB');
});
afterEach(() => void vi.useRealTimers());

type Wanted = { tier: string; interval: string };
const plans: Wanted[] = ['silver', 'gold'].flatMap((tier) => ['month', 'year'].map((interval) => ({ tier, interval })));
const estimate = (principal: Administrator, wanted: object) =>
  callerFor(billing, principal).billing.estimate(wanted as never);

async function buy(wanted: Wanted, { country = 'GB', currency = 'gbp' } = {}) {
  const principal = await makeMember(billing);
  await callerFor(billing, principal).billing.currency({ currency });
  const { url } = await startCheckout(billing.app, principal, wanted);
  const body = new URLSearchParams({ card: '4242424242424242', country });
  expect((await fetch(url, { method: 'POST', body, redirect: 'manual' })).status).toBe(303);
  await billing.settled();
  const [subscription] = ownedBy(billing, principal).subscriptions;
  if (subscription === undefined) throw new Error('The checkout made no subscription.');
  return { principal, subscription };
}

/** Confirms a change on the portal's page. Returns the invoice that it made; undefined without one. */
async function confirm(principal: Administrator, wanted: Wanted) {
  const { url } = await startCheckout(billing.app, principal, wanted);
  const flow = provider().state().portal_sessions[url.split('/').at(-1) ?? '']?.flow?.subscription_update_confirm;
  const before = new Set(ownedBy(billing, principal).invoices.map(({ id }) => id));
  provider()
    .portal(url)
    .changePlan(flow?.subscription ?? '', flow?.items[0]?.price ?? '');
  return ownedBy(billing, principal).invoices.find(({ id }) => !before.has(id));
}

test('an estimate is what the change charges that is confirmed in the same second, and from then on', async () => {
  const { id: quarter } = await billing.app.payment.ask((api) =>
    api.coupons.create({ percent_off: 25, duration: 'forever' }),
  );
  const pair = fc.shuffledSubarray(plans, { minLength: 2, maxLength: 2 });
  const days = fc.integer({ min: 0, max: 27 });
  const country = fc.constantFrom('GB', 'FR');
  const currency = fc.constantFrom('gbp', 'eur');
  await fc.assert(
    fc.asyncProperty(pair, days, country, currency, fc.boolean(), async ([from, to], day, land, money, hasCode) => {
      const { principal, subscription } = await buy(from as Wanted, { country: land, currency: money });
      if (hasCode) provider().discount(subscription.id, quarter);
      provider().clock.advance({ days: day });
      await billing.settled();
      const [before] = structuredClone(subscription.items.data);

      vi.useFakeTimers({ toFake: ['Date'] });
      const estimated = await estimate(principal, to as Wanted);
      const invoice = await confirm(principal, to as Wanted);
      vi.useRealTimers();
      const [after] = subscription.items.data;
      const seconds = (estimated?.waits ? before : after)?.current_period_end ?? 0;
      expect(estimated).toMatchObject({
        waits: subscription.schedule !== null,
        due: { amount: invoice?.amount_due ?? 0, currency: money },
        from: new Date(1000 * seconds).toISOString(),
      });
      expect(invoice === undefined).toBe(estimated?.waits);

      await billing.settled();
      const { change, price } = (await callerFor(billing, principal).subscription.overview()).plan;
      expect(change?.at).toBe(estimated?.waits ? estimated.from : undefined);
      if (!estimated?.waits) expect(price).toEqual({ ...estimated?.price, quantity: 1 });
      await billing.app.payment.ask((api) => api.subscriptions.cancel(subscription.id));
    }),
    { numRuns: 12 },
  );
});

const yearlyGold = { tier: 'gold', interval: 'year' };
const silver = { tier: 'silver', interval: 'month' };
const secondOf = (iso: string | undefined) => Date.parse(iso ?? '') / 1000;

test('in a trial nothing is charged now, whatever is chosen, and the trial continues', async () => {
  const { principal, subscription } = await buy(silver);
  const trial_end = provider().clock.now() + 14 * 86_400;
  await billing.app.payment.ask((api) => api.subscriptions.update(subscription.id, { trial_end }));
  await billing.settled();
  for (const wanted of [{ ...silver, tier: 'gold' }, yearlyGold]) {
    const estimated = await estimate(principal, wanted);
    expect(estimated).toMatchObject({ waits: false, due: { amount: 0 }, price: { interval: wanted.interval } });
    expect(secondOf(estimated?.from)).toBe(trial_end);
    expect(await confirm(principal, wanted)).toBeUndefined();
    expect(subscription).toMatchObject({ status: 'trialing', trial_end });
    await billing.settled();
  }
});

test('credit pays first, and where it is enough nothing is charged now', async () => {
  const { principal, subscription } = await buy(silver);
  const full = (await estimate(principal, yearlyGold))?.due.amount ?? 0;
  const customer = String(subscription.customer);
  for (const [balance, due] of [
    [-1000, full - 1000],
    [-200_000, 0],
  ] as const) {
    await billing.app.payment.ask((api) => api.customers.update(customer, { balance }));
    expect((await estimate(principal, yearlyGold))?.due.amount).toBeCloseTo(due, -1);
  }
});

describe('there is no estimate', () => {
  test.each(['hang', 'close', 500, 403, 404] as const)(
    'of a provider that answers %s, within a second',
    async (failure) => {
      const { principal } = await buy(silver);
      for (const only of ['GET /v1/subscriptions', 'POST /v1/invoices/create_preview']) {
        provider().resetSwitches();
        provider().set({ api_failure: failure, api_failure_only: only });
        const began = performance.now();
        expect(await estimate(principal, yearlyGold)).toBeNull();
        expect(performance.now() - began).toBeLessThan(1500);
      }
    },
  );

  test('of a plan or interval that is not sold, and without a subscription', async () => {
    const { principal } = await buy(silver);
    for (const wanted of [
      {},
      { tier: 'free' },
      { tier: 'copper' },
      { ...silver, interval: 'week' },
      { tier: ['gold'] },
    ]) {
      expect(await estimate(principal, wanted)).toBeNull();
    }
    expect(await estimate(await makeMember(billing), silver)).toBeNull();
  });

  test('of a subscription with several items, which the portal does not change', async () => {
    const { principal, subscription } = await buy(silver);
    const price = await billing.app.payment.ask((api) =>
      api.prices.create({
        currency: 'gbp',
        unit_amount: 500,
        recurring: { interval: 'month' },
        product_data: { name: 'Support' },
      }),
    );
    await billing.app.payment.ask((api) =>
      api.subscriptionItems.create({ subscription: subscription.id, price: price.id }),
    );
    expect(await estimate(principal, yearlyGold)).toBeNull();
  });

  test('after more requests than an administrator may cause', async () => {
    const { principal } = await buy(silver);
    expect(await estimate(principal, yearlyGold)).not.toBeNull();
    const spent = () => billing.app.throttle.take({ 'billing-user': principal.user.id });
    await expect(Promise.all(Array.from({ length: 100 }, spent))).rejects.toMatchObject({ code: 'TOO_MANY' });
    expect(await estimate(principal, yearlyGold)).toBeNull();
  });

  test('where the portal has no configuration of ours, because that decides when a change begins', async () => {
    const { principal } = await buy(silver);
    await billing.app.db.delete(paymentSettings).where(eq(paymentSettings.name, portalSetting));
    expect(await estimate(principal, yearlyGold)).toBeNull();
    await setUpBilling(billing.app);
    expect(await estimate(principal, yearlyGold)).not.toBeNull();
  });
});
