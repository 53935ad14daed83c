import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { paymentKnownPrices, paymentLivePrices } from '../../platform/db/schema/billing.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { startAwakeClock } from '../../testing/awake-clock.ts';
import { withPrices } from '../../testing/billing.ts';
import { livePrices, refreshPrices } from './live-prices.ts';
import { createPriceCache, type LivePrices } from './price-cache.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());
beforeEach(async () => {
  running.sandbox.payment.reset();
  await running.app.db.delete(paymentLivePrices);
});

const provider = () => running.sandbox.payment;
/** Another process: it has the same database and its own cache. */
const node = (more: Partial<App> = {}): App => ({
  ...running.app,
  priceCache: createPriceCache(running.app.plans),
  ...more,
});

async function timed<Result>(act: () => Promise<Result>) {
  const began = performance.now();
  const result = await act();
  return { result, milliseconds: performance.now() - began };
}

function counting(app: App): App & { asked: () => number; answered: () => number } {
  let asked = 0;
  let answered = 0;
  const { payment } = app;
  if (payment === null) throw new Error('billing is off');
  const askBriefly: typeof payment.askBriefly = (question) => {
    asked++;
    return payment.askBriefly(question).finally(() => answered++);
  };
  return { ...app, payment: { ...payment, askBriefly }, asked: () => asked, answered: () => answered };
}

const none = { silver: [], gold: [] };
const idOf = (tier: string) => `price_sandbox_${tier}_monthly`;
const monthly = (tier: string, gbp: number) => [
  { for: 'month', sold: true, id: idOf(tier), shown: { interval: 'month', currency: 'gbp', amounts: { gbp } } },
];
const live = { silver: monthly('silver', 2400), gold: monthly('gold', 7900) };
const amountOf = (prices: LivePrices, tier: string) => prices[tier]?.[0]?.shown?.amounts.gbp;

/** Reads until the prices are known: a reader waits for them at most 300 ms, which a machine under load may need. */
async function untilKnown(app: App): Promise<void> {
  await expect.poll(() => livePrices(app)).toEqual(live);
}

describe('live prices', () => {
  test('are looked up once for many readers, kept for a minute, and remembered for their tiers', async () => {
    const app = counting(node());
    const all = await Promise.all(Array.from({ length: 30 }, () => livePrices(app)));
    for (const each of all) expect(each).toBeOneOf([live, none]);
    await untilKnown(app);
    expect(app.asked()).toBe(1);

    const known = await running.app.db.select().from(paymentKnownPrices);
    expect(known.map(({ tier }) => tier)).toEqual(expect.arrayContaining(['silver', 'gold']));
  });

  test('are read from what another node stored within a minute', async () => {
    await untilKnown(node());
    const other = counting(node());
    expect(await livePrices(other)).toEqual(live);
    expect(other.asked()).toBe(0);
  });

  test('delay a reader by at most 300 ms if none is known, and are there for the next reader', async () => {
    provider().set({ api_delay_ms: 1000 });
    const app = counting(node());
    const first = await timed(() => livePrices(app));
    expect(first.result).toEqual(none);
    expect(first.milliseconds).toBeGreaterThan(250);
    expect(app.answered()).toBe(0);

    await expect.poll(app.answered).toBe(1);
    await untilKnown(app);
  });

  test('delay no reader if one is known, however old', async () => {
    let now = Date.now();
    const app = counting(node({ now: () => new Date(now) }));
    await untilKnown(app);
    const before = app.asked();

    now += 61_000;
    provider().set({ api_delay_ms: 1200 });
    expect(await livePrices(app)).toEqual(live);
    expect(app.answered()).toBe(before);
    await expect.poll(app.answered).toBe(before + 1);
    expect(app.asked()).toBe(before + 1);
  });

  test('stay while the provider does not answer, which is asked again only after a pause', async () => {
    let now = Date.now();
    const app = counting(node({ now: () => new Date(now) }));
    await untilKnown(app);
    const before = app.asked();

    now += 600_000;
    provider().set({ api_failure: 'close' });
    await livePrices(app);
    await expect.poll(app.answered).toBe(before + 1);
    for (let reader = 0; reader < 10; reader++) expect(await livePrices(app)).toEqual(live);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(app.asked()).toBe(before + 1);
    now += 6000;
    await livePrices(app);
    await expect.poll(app.answered).toBe(before + 2);
    expect(app.asked()).toBe(before + 2);
  });

  test('are asked for once and for a second and a half at most', async () => {
    provider().set({ api_failure: 'hang' });
    const began = performance.now();
    const awake = startAwakeClock();
    await expect(refreshPrices(node())).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    expect(performance.now() - began).toBeGreaterThan(1400);
    expect(awake()).toBeLessThan(6000);
  });

  test('follow a lookup key to its new price', async () => {
    await untilKnown(node());
    await requireAsk()((api) =>
      api.prices.create({
        product_data: { name: 'Silver' },
        currency: 'gbp',
        unit_amount: 2900,
        recurring: { interval: 'month' },
        lookup_key: 'silver_monthly',
        transfer_lookup_key: true,
      }),
    );
    const app = node();
    await refreshPrices(app);
    expect(amountOf(await livePrices(app), 'silver')).toBe(2900);
    const silver = (await running.app.db.select().from(paymentKnownPrices)).filter(({ tier }) => tier === 'silver');
    expect(silver.length).toBeGreaterThanOrEqual(2);
  });

  test('may be configured by their id', async () => {
    const price = Object.values(provider().state().prices).find(({ lookup_key }) => lookup_key === 'gold_monthly');
    const { config, plans } = await withPrices(running.app, { PAYMENT_PRICE_GOLD: price?.id ?? '' });
    const app = node({ config, plans });
    await refreshPrices(app);
    expect(amountOf(await livePrices(app), 'gold')).toBe(7900);
  });

  test.each<[string, boolean, object]>([
    ['without one amount', true, { unit_amount: null }],
    ['that is paid once', false, { recurring: null }],
    [
      'for several intervals at once',
      true,
      { recurring: { interval: 'month', interval_count: 3, usage_type: 'licensed' } },
    ],
    ['that is archived', false, { active: false }],
  ])('leave the declared one in place of a price %s', async (_, sold, change) => {
    const price = Object.values(provider().state().prices).find(({ lookup_key }) => lookup_key === 'silver_monthly');
    Object.assign(price ?? {}, change);
    const app = node();
    await refreshPrices(app);
    const id = sold ? idOf('silver') : null;
    expect(await livePrices(app)).toEqual({ ...live, silver: [{ for: 'month', sold, id, shown: null }] });
  });

  test('are the declared ones where billing is off', async () => {
    expect(await livePrices(node({ payment: null }))).toEqual(none);
  });
});

function requireAsk() {
  if (running.app.payment === null) throw new Error('billing is off');
  return running.app.payment.ask;
}
