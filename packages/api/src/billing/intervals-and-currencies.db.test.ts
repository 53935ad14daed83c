import { fileURLToPath } from 'node:url';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../auth/principal.ts';
import { runChecks } from '../operators/doctor/doctor.ts';
import { readDrift } from '../operators/events/drift.ts';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { type BillingTest, makeMember, ownedBy, startBillingTest } from '../testing/billing.ts';
import { callerFor } from '../testing/factories.ts';
import { setUpBilling } from './actions/set-up-billing.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { loadPlans } from './plans/plans.ts';
import { refreshPrices } from './prices/live-prices.ts';
import { readOverview } from './summary/read-overview.ts';
import { readSubscription } from './summary/read-subscription.ts';

/** Three tiers, for a month and a year, in pounds and euros. */
const file = fileURLToPath(new URL('../../../../examples/plans.json', import.meta.url));

let billing: BillingTest;
beforeAll(async () => {
  billing = await startBillingTest({ environment: { PLANS_FILE: file } });
});
afterAll(() => billing.close());

type Member = Awaited<ReturnType<typeof makeMember>>;
const api = (principal: Member) => callerFor(billing, principal).billing;
const pay = (url: string) => expect(billing.sandbox.payment.payCheckout(url)).toMatchObject({ paid: true });

async function buy(principal: Member, input: { tier: string; interval?: string }) {
  pay((await api(principal).checkout(input as never)).url);
  await billing.settled();
  return rowOf(principal);
}

async function rowOf({ organisationId }: Member) {
  const rows = await billing.app.db
    .select()
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  expect(rows).toHaveLength(1);
  return rows[0];
}

test('billing-setup makes the missing prices with their lookup keys and currencies, and the portal offers them', async () => {
  const report = await setUpBilling(billing.app);
  expect(report).toMatch(/^silver a month: price \S+ was there$/m);
  expect(report).toMatch(/^silver a year: price \S+ made$/m);
  const { prices, currency_options, portal_configurations } = billing.sandbox.payment.state();
  const yearly = Object.values(prices).find(({ lookup_key }) => lookup_key === 'gold_yearly');
  expect(yearly).toMatchObject({ currency: 'gbp', unit_amount: 79_000, recurring: { interval: 'year' } });
  expect(currency_options[yearly?.id ?? '']?.eur?.unit_amount).toBe(92_000);
  const offered = Object.values(portal_configurations).flatMap(({ features }) =>
    (features.subscription_update.products ?? []).flatMap((product) => product.prices),
  );
  expect(offered).toContain(yearly?.id);
  expect((await runChecks(billing.app)).report).toContain(
    'WRONG  Price of Silver a month: silver_monthly has no amount in eur.',
  );
  // The prices that were there before are in pounds alone.
  for (const [id, amount] of [
    ['price_sandbox_silver_monthly', 2800],
    ['price_sandbox_gold_monthly', 9200],
  ] as const) {
    await billing.app.payment.ask((provider) =>
      provider.prices.update(id, { currency_options: { eur: { unit_amount: amount } } }),
    );
  }
  await refreshPrices(billing.app);
  expect((await runChecks(billing.app)).report).toContain('Price of Gold a year: gold_yearly is £790.00 a year.');
});

describe('a checkout', () => {
  test.each(['week', 'never', 7, null])('for the interval %j asks for one that is sold', async (interval) => {
    const member = await makeMember(billing);
    const refused = api(member).checkout({ tier: 'silver', interval } as never);
    await expect(refused).rejects.toThrow('Choose monthly or yearly billing.');
  });

  test('buys the first interval by default, and a year where it is named', async () => {
    expect(await buy(await makeMember(billing), { tier: 'silver' })).toMatchObject({ interval: 'month', amount: 2400 });
    const member = await makeMember(billing);
    const row = await buy(member, { tier: 'silver', interval: 'year' });
    expect(row).toMatchObject({ tier: 'silver', interval: 'year', amount: 24_000, currency: 'gbp' });
  });

  test('of the same tier is refused for the same interval, and changes the plan in place for another', async () => {
    const member = await makeMember(billing);
    await buy(member, { tier: 'silver' });
    await expect(api(member).checkout({ tier: 'silver' })).rejects.toThrow('already on the Silver plan');
    const { url } = await api(member).checkout({ tier: 'silver', interval: 'year' } as never);
    expect(url).toContain('/pay/portal/');
    expect(ownedBy(billing, member).subscriptions).toHaveLength(1);
  });
});

test('a lower plan and a shorter interval wait for the end of the paid year, and keeping the plan gives them up', async () => {
  const member = await makeMember(billing);
  const row = await buy(member, { tier: 'gold', interval: 'year' });
  for (const wanted of [{ tier: 'silver', interval: 'year' }, { tier: 'gold' }]) {
    const { url } = await api(member).checkout(wanted as never);
    const session = billing.sandbox.payment.state().portal_sessions[url.split('/').at(-1) ?? ''];
    const [item] = session?.flow?.subscription_update_confirm?.items ?? [];
    billing.sandbox.payment.portal(url).changePlan(row?.id ?? '', item?.price ?? '');
    await billing.settled();
    const next = { nextTier: wanted.tier, nextInterval: wanted.interval ?? 'month', nextTierAt: row?.currentPeriodEnd };
    expect(await rowOf(member)).toMatchObject({ tier: 'gold', interval: 'year', ...next });
    await expect(api(member).checkout({ tier: 'silver' })).rejects.toThrow(
      wanted.tier === 'gold'
        ? /^Gold yearly changes to Gold monthly on \d+ \w+\. Keep Gold to choose another plan\.$/
        : /^Gold changes to Silver on \d+ \w+\. Keep Gold to choose another plan\.$/,
    );

    await api(member).resume();
    await billing.settled();
    expect(await rowOf(member)).toMatchObject({
      interval: 'year',
      nextTier: null,
      nextInterval: null,
      nextTierAt: null,
    });
  }
});

describe('the currency', () => {
  test('that an administrator chooses is bought, shown and stored, and then fixed', async () => {
    const member = await makeMember(billing);
    const inPounds = (await api(member).checkout({ tier: 'gold' })).url;
    expect(await api(member).currency({ currency: ' EUR ' })).toEqual({ currency: 'eur' });
    expect(billing.sandbox.payment.payCheckout(inPounds)).toMatchObject({ paid: false });

    const [, , gold] = (await readSubscription(billing.app, member)).tiers;
    expect(gold?.price).toEqual({ amount: 9200, currency: 'eur', interval: 'month' });
    expect(gold?.prices?.map(({ amount, currency }) => [amount, currency])).toEqual([
      [9200, 'eur'],
      [92_000, 'eur'],
    ]);

    expect(await buy(member, { tier: 'gold', interval: 'year' })).toMatchObject({ currency: 'eur', amount: 92_000 });
    expect((await readSubscription(billing.app, member)).plan.price).toMatchObject({ amount: 92_000, currency: 'eur' });
    await expect(api(member).currency({ currency: 'gbp' })).rejects.toMatchObject({
      cause: { code: 'CONFLICT', message: 'This organisation pays in EUR, which cannot be changed.' },
    });
    expect(await api(member).currency({ currency: 'eur' })).toEqual({ currency: 'eur' });
  });

  test('that the plans do not have is refused', async () => {
    const member = await makeMember(billing);
    await expect(api(member).currency({ currency: 'usd' })).rejects.toThrow('Choose GBP or EUR.');
  });

  test('of a customer stays after the deployment’s has changed, and a price without it is not sold to it', async () => {
    const member = await makeMember(billing);
    await buy(member, { tier: 'silver' });
    const plans = await loadPlans({ ...billing.app.config, plansFile: file });
    const dollars = plans.sold.map((each) => ({ ...each, amounts: { usd: 5000 } }));
    const app = { ...billing.app, plans: { ...plans, sold: dollars, currencies: ['usd'] } };
    const [, silver] = (await readSubscription(app, member)).tiers;
    expect(silver?.price).toMatchObject({ amount: 2400, currency: 'gbp' });

    const { currency_options, prices } = billing.sandbox.payment.state();
    const gold = Object.values(prices).find(({ lookup_key }) => lookup_key === 'gold_monthly');
    const options = currency_options[gold?.id ?? ''] ?? {};
    Object.assign(gold ?? {}, { currency: 'eur' });
    const gbp = options.gbp;
    delete options.gbp;
    try {
      await expect(api(member).checkout({ tier: 'gold' })).rejects.toThrow('The Gold plan is not sold in GBP.');
    } finally {
      Object.assign(gold ?? {}, { currency: 'gbp' });
      if (gbp) options.gbp = gbp;
    }
  });
});

describe('an unpaid subscription that is paid for a year', () => {
  async function makeUnpaid() {
    const member = await makeMember(billing);
    const row = await buy(member, { tier: 'gold', interval: 'year' });
    const [subscription] = ownedBy(billing, member).subscriptions;
    billing.sandbox.payment.set({ dunning_end: 'unpaid' });
    billing.sandbox.payment.setCard(row?.customerId ?? '', '4000000000000341');
    billing.sandbox.payment.clock.advanceToPeriodEnd(row?.id ?? '');
    billing.sandbox.payment.clock.advance({ days: 40 });
    await billing.settled();
    expect(subscription?.status).toBe('unpaid');
    return { member, subscription };
  }

  test('is told on the page with the tier and interval whose checkout pays it', async () => {
    const { member, subscription } = await makeUnpaid();
    const { tier, pays_for } = (await readOverview(billing.app, member)).plan;
    expect({ tier, pays_for }).toEqual({ tier: 'free', pays_for: { tier: 'gold', interval: 'year' } });
    const { url } = await api(member).checkout(pays_for as never);
    billing.sandbox.payment.payInvoice(url, '4242424242424242');
    expect(subscription?.status).toBe('active');
    expect(ownedBy(billing, member).subscriptions).toHaveLength(1);
  });

  test('leads to its invoice, not to its end, where only the interval is another or none is named', async () => {
    const { member, subscription } = await makeUnpaid();
    for (const input of [{ tier: 'gold' }, { tier: 'gold', interval: 'month' }]) {
      expect((await api(member).checkout(input as never)).url).toContain('/pay/invoice/');
      expect(subscription?.status).toBe('unpaid');
    }
    await api(member).checkout({ tier: 'silver' });
    expect(subscription?.status).toBe('canceled');
  });

  test('leads to its invoice, whatever tier is chosen, where the plans no longer have its own', async () => {
    const { member, subscription } = await makeUnpaid();
    const { plans } = billing.app;
    const [free, silver] = plans.tiers;
    const sold = plans.sold.filter(({ tier }) => tier === 'silver');
    const app = { ...billing.app, plans: { ...plans, tiers: [free, silver] as typeof plans.tiers, sold } };
    expect((await readOverview(app, member)).plan.pays_for).toBeNull();
    expect((await startCheckout(app, member, { tier: 'silver' })).url).toContain('/pay/invoice/');
    expect(subscription?.status).toBe('unpaid');
  });
});

test('of a plan whose yearly price alone is archived, only that price is not available', async () => {
  const member = await makeMember(billing);
  const yearly = Object.values(billing.sandbox.payment.state().prices).find(
    (each) => each.lookup_key === 'gold_yearly',
  );
  const sell = async (active: boolean) => {
    await billing.app.payment.ask((provider) => provider.prices.update(yearly?.id ?? '', { active }));
    await billing.settled();
    await refreshPrices(billing.app);
    return (await readOverview(billing.app, member)).unavailable_prices;
  };
  expect(await sell(false)).toEqual([{ tier: 'gold', interval: 'year' }]);
  await expect(api(member).checkout({ tier: 'gold', interval: 'year' } as never)).rejects.toThrow(
    'This plan cannot be bought at the moment.',
  );
  expect((await readDrift(billing.app, {} as Operator)).unsold).toEqual([]);
  expect(await sell(true)).toEqual([]);
});
