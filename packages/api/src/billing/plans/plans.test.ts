import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  expect(tiers.map(({ tier, price }) => [tier, price?.amount ?? null])).toEqual([
    ['free', null],
    ['silver', 2400],
    ['gold', 7900],
  ]);
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
  const { priceNames } = await load(threeTiers, { PAYMENT_PRICE_GOLD: 'price_gold_now' });
  expect(priceNames).toEqual({ silver: 'silver_monthly', gold: 'price_gold_now' });
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
