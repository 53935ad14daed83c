import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sentenceIn } from '../../platform/messages.ts';
import { defaultPlans } from './default-plans.ts';
import { choosePaidPlan, loadPlans, paidTiers } from './plans.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plans-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(content: unknown, prices: Record<string, string> = {}) {
  const file = join(folder, 'plans.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return loadPlans({ plansFile: file, prices });
}

const builtIn = { plansFile: null, prices: {} };
const [free, silver, gold] = defaultPlans.tiers;
const threeTiers = { ...defaultPlans, tiers: [free, silver, gold] };

test('without a file the built-in plans apply', async () => {
  const { tiers } = await loadPlans(builtIn);
  expect(tiers.map(({ tier }) => tier)).toEqual(defaultPlans.tiers.map(({ tier }) => tier));
  const prices = Object.fromEntries(tiers.map(({ tier, price }) => [tier, price?.amount ?? null]));
  expect(prices).toMatchObject({ free: null, silver: 2400, gold: 7900 });
});

test('a file may sell one paid tier or many, in rising rank', async () => {
  const tiers = [free, gold, { ...silver, tier: 'platinum', name: 'Platinum' }, silver];
  expect(paidTiers(await load({ ...defaultPlans, tiers }))).toEqual(['gold', 'platinum', 'silver']);
  expect(paidTiers(await load({ ...defaultPlans, tiers: [free, gold] }))).toEqual(['gold']);
});

test('the sentence that asks for a paid plan names each of them', async () => {
  const platinum = { ...silver, tier: 'platinum', name: 'Platinum' };
  const asked = async (...of: Parameters<typeof load>) => sentenceIn('en', choosePaidPlan(await load(...of)));
  expect(await asked(threeTiers)).toBe('Choose the Silver or Gold plan.');
  expect(await asked({ ...defaultPlans, tiers: [free, gold] })).toBe('Choose the Gold plan.');
  expect(await asked({ ...defaultPlans, tiers: [free, silver, gold, platinum] })).toBe(
    'Choose the Silver, Gold or Platinum plan.',
  );
});

test('each paid tier is sold under its configured name, else under one made from the tier', async () => {
  const { sold } = await load(threeTiers, { PAYMENT_PRICE_GOLD: 'price_gold_now' });
  expect(sold.map(({ tier, name }) => [tier, name])).toEqual([
    ['silver', 'silver_monthly'],
    ['gold', 'price_gold_now'],
  ]);
});

/** A paid tier with two intervals and two currencies. */
const several = ({ price: _, ...tier }: object & { price?: unknown }, amount: number, more: object = {}) => ({
  ...tier,
  prices: [
    { interval: 'month', amounts: { gbp: amount, eur: amount + 400 } },
    { interval: 'year', amounts: { gbp: 10 * amount, eur: 10 * (amount + 400) } },
  ],
  ...more,
});
const severalPrices = { ...defaultPlans, tiers: [free, several(silver ?? {}, 2400), several(gold ?? {}, 7900)] };

test('a tier with several prices is sold by interval, its first price under the configured name', async () => {
  const { sold, currencies, tiers } = await load(severalPrices, { PAYMENT_PRICE_SILVER: 'price_silver_now' });
  expect(currencies).toEqual(['gbp', 'eur']);
  expect(sold.map(({ name }) => name)).toEqual(['price_silver_now', 'silver_yearly', 'gold_monthly', 'gold_yearly']);
  expect(sold[1]).toMatchObject({ tier: 'silver', interval: 'year', amounts: { gbp: 24_000, eur: 28_000 } });
  expect(tiers.map(({ price }) => price)).toEqual([
    null,
    { amount: 2400, currency: 'gbp', interval: 'month' },
    { amount: 7900, currency: 'gbp', interval: 'month' },
  ]);
});

test('a file of three tiers, two intervals and two currencies has less than sixty lines', async () => {
  const text = await readFile(new URL('../../../../../examples/plans.json', import.meta.url), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThan(60);
  const { sold, currencies } = await load(text);
  expect([new Set(sold.map(({ interval }) => interval)).size, currencies.length]).toEqual([2, 2]);
});

const wrongPrices = (prices: unknown) => ({ ...defaultPlans, tiers: [free, { ...several(silver ?? {}, 1), prices }] });

test.each<[string, unknown, RegExp]>([
  [
    'price and prices',
    { ...severalPrices, tiers: [free, several(silver ?? {}, 1, { price: silver?.price })] },
    /: tiers 1 must have either a price or prices\.$/,
  ],
  [
    'neither',
    { ...defaultPlans, tiers: [free, { ...silver, price: undefined }] },
    /: tiers 1 must have either a price or prices\.$/,
  ],
  ['no price in the list', wrongPrices([]), /: tiers 1 prices must have at least one price\.$/],
  [
    'an interval of a week',
    wrongPrices([{ interval: 'week', amounts: { gbp: 1 } }]),
    /: tiers 1 prices 0 interval must be month or year\.$/,
  ],
  [
    'a month twice',
    wrongPrices([
      { interval: 'month', amounts: { gbp: 1 } },
      { interval: 'month', amounts: { gbp: 2 } },
    ]),
    /: tiers 1 prices must have one price an interval\.$/,
  ],
  [
    'no amount',
    wrongPrices([{ interval: 'month', amounts: {} }]),
    /: tiers 1 prices 0 amounts must have an amount in at least one currency\.$/,
  ],
  [
    'a word for a currency',
    wrongPrices([{ interval: 'month', amounts: { pounds: 1 } }]),
    /: tiers 1 prices 0 amounts pounds must name currencies such as gbp\.$/,
  ],
  [
    'a fraction',
    wrongPrices([{ interval: 'month', amounts: { gbp: 1.5 } }]),
    /: tiers 1 prices 0 amounts gbp must be a whole number of minor units\.$/,
  ],
  [
    'other intervals in another tier',
    { ...defaultPlans, tiers: [free, several(silver ?? {}, 1), gold] },
    /: tiers 2 prices must be for month, year, as those of the first paid tier\.$/,
  ],
  [
    'other currencies in another tier',
    {
      ...severalPrices,
      tiers: [
        free,
        several(silver ?? {}, 1),
        several(gold ?? {}, 1, {
          prices: ['month', 'year'].map((interval) => ({ interval, amounts: { eur: 1, gbp: 1 } })),
        }),
      ],
    },
    /: tiers 2 prices must have amounts in gbp, eur in this order, as those of the first paid tier\.$/,
  ],
  [
    'another interval of the one price of another tier',
    { ...defaultPlans, tiers: [free, silver, { ...gold, price: { ...gold?.price, interval: 'year' } }] },
    /: tiers 2 price must be for month, as that of the first paid tier\.$/,
  ],
  [
    'another interval and currency of the one price of another tier',
    { ...defaultPlans, tiers: [free, silver, { ...gold, price: { amount: 1, currency: 'jpy', interval: 'year' } }] },
    /: tiers 2 price must be for month, as that of the first paid tier\.$/,
  ],
  [
    'another currency of the one price of another tier',
    { ...defaultPlans, tiers: [free, silver, { ...gold, price: { ...gold?.price, currency: 'jpy' } }] },
    /: tiers 2 price must be in gbp, as that of the first paid tier\.$/,
  ],
])('prices with %s are refused with one sentence', async (_, content, sentence) => {
  const refusal = await load(content).catch((error: Error) => error.message);
  expect(refusal).toMatch(sentence);
  expect(String(refusal).split('\n')).toHaveLength(1);
});

test('a file replaces them', async () => {
  const plans = await load({ ...defaultPlans, tiers: [free, { ...silver, name: 'Plus' }, gold] });
  expect(plans.tiers[1].name).toBe('Plus');
});

test.each<[string, unknown, RegExp]>([
  ['no JSON', '{', /^PLANS_FILE: \/.+ is not valid JSON: .+\.$/],
  [
    'no paid tier',
    { ...defaultPlans, tiers: [free] },
    /^PLANS_FILE: \/.+: tiers 1 must be a tier: a paid one follows the free one\.$/,
  ],
  [
    'a trial of no days',
    { ...defaultPlans, tiers: [free, { ...silver, trial: { days: 0 } }, gold] },
    /^PLANS_FILE: \/.+: tiers 1 trial days must be at least 1\.$/,
  ],
  [
    'a trial of the free tier',
    { ...defaultPlans, tiers: [{ ...free, trial: { days: 14 } }, silver, gold] },
    /^PLANS_FILE: \/.+: tiers 0 trial must not be there: the first tier costs nothing\.$/,
  ],
  ['a paid tier first', { ...defaultPlans, tiers: [silver, gold] }, /^PLANS_FILE: \/.+: tiers 0 tier must be "free"/],
  [
    'a tier twice',
    { ...defaultPlans, tiers: [free, gold, gold] },
    /^PLANS_FILE: \/.+: tiers must each have a tier of their/,
  ],
  [
    'a tier whose name cannot be part of a variable',
    { ...defaultPlans, tiers: [free, { ...gold, tier: 'gold-plus' }] },
    /^PLANS_FILE: \/.+: tiers 1 tier must be a name such as gold/,
  ],
  [
    'a price for free',
    { ...defaultPlans, tiers: [{ ...free, price: silver?.price }, silver, gold] },
    /PLANS_FILE: \/.+: tiers 0 price/,
  ],
  [
    'no price for gold',
    { ...defaultPlans, tiers: [free, silver, { ...gold, price: null }] },
    /PLANS_FILE: \/.+: tiers 2 price/,
  ],
  [
    'a limit missing',
    { ...defaultPlans, tiers: [free, { ...silver, limits: { members: 1 } }, gold] },
    /limit for each meter: members, projects, api_calls/,
  ],
  [
    'a feature missing',
    { ...defaultPlans, tiers: [free, { ...silver, features: {} }, gold] },
    /tiers 1 features must be the same in each tier/,
  ],
  [
    'a meter whose name is an action of usage',
    { ...defaultPlans, meters: [{ ...defaultPlans.meters[0], meter: 'report' }] },
    /meters 0 meter must not be commit, release, report or reserve\./,
  ],
  [
    'a feature with the name of a meter',
    {
      ...defaultPlans,
      tiers: defaultPlans.tiers.map((tier) => ({ ...tier, features: { ...tier.features, members: true } })),
    },
    /tiers 0 features must not have the name of a meter: members\./,
  ],
  [
    'a meter twice',
    { ...defaultPlans, meters: [...defaultPlans.meters, defaultPlans.meters[0]] },
    /meters must each have a name/,
  ],
  [
    'a negative limit',
    { ...defaultPlans, tiers: [{ ...free, limits: { ...free?.limits, members: -1 } }, silver, gold] },
    /members must not be negative/,
  ],
])('%s is refused with a sentence that names PLANS_FILE', async (_, content, sentence) => {
  await expect(load(content)).rejects.toThrow(sentence);
});

test('a missing file is refused the same way', async () => {
  await expect(loadPlans({ ...builtIn, plansFile: join(folder, 'missing.json') })).rejects.toThrow(
    /^PLANS_FILE: \/.+missing\.json cannot be read \(ENOENT\)\.$/,
  );
});
