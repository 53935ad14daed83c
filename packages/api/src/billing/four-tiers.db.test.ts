import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../app.ts';
import { runChecks } from '../operators/doctor/doctor.ts';
import { readPlan } from '../organisations/plan.ts';
import { paymentLivePrices, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { type BillingTest, makeMember, makeSecond, makeSubscriber, startBillingTest } from '../testing/billing.ts';
import { setUpBilling } from './actions/set-up-billing.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { decideAllPlans, digestOfRules } from './entitlement/decide-plan.ts';
import { defaultPlans } from './plans/default-plans.ts';
import { missingTiers, warnOfMissingTiers } from './plans/missing-tiers.ts';
import { loadPlans } from './plans/plans.ts';
import { livePrices, refreshPrices } from './prices/live-prices.ts';
import { readSubscription } from './summary/read-subscription.ts';
import { billingJobs } from './sync/jobs.ts';
import { reconcileAll } from './sync/reconcile.ts';

const [free, silver, gold] = defaultPlans.tiers;
const platinum = {
  tier: 'platinum',
  name: 'Platinum',
  price: { amount: 19_900, currency: 'gbp', interval: 'month' },
  limits: { members: null, projects: null, api_calls: null },
  features: { audit_log: true },
};

let folder: string;
let billing: BillingTest;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plans-'));
  const file = await plansFile([free, silver, gold, platinum]);
  billing = await startBillingTest({ environment: { PLANS_FILE: file, PAYMENT_PRICE_PALTINUM: 'platinum_yearly' } });
});
afterAll(async () => {
  await billing.close();
  await rm(folder, { recursive: true });
});

async function plansFile(tiers: unknown[]): Promise<string> {
  const file = join(folder, `plans-${tiers.length}.json`);
  await writeFile(file, JSON.stringify({ ...defaultPlans, tiers }));
  return file;
}

/** The same deployment with other plans. */
async function withTiers(tiers: unknown[]): Promise<App> {
  return { ...billing.app, plans: await loadPlans({ ...billing.app.config, plansFile: await plansFile(tiers) }) };
}

const tierOf = async (app: App, organisationId: string) => (await readPlan(app, organisationId)).tier;

describe('a deployment whose PLANS_FILE adds a tier', () => {
  it('warns at start of a price variable that no tier has', () => {
    expect(billing.logged.map(({ message }) => message)).toContain(
      'PAYMENT_PRICE_PALTINUM names the price of no plan and is ignored. The plans have PAYMENT_PRICE_SILVER, PAYMENT_PRICE_GOLD, PAYMENT_PRICE_PLATINUM.',
    );
  });

  it('has its price created by billing-setup, which the doctor recommends until then', async () => {
    const price = async () => (await runChecks(billing.app)).report.split('\n').find((line) => /Platinum/.test(line));
    expect(await price()).toMatch(
      /^WRONG {2}Price of Platinum: .* no recurring price platinum_monthly\. Run .*billing-setup.* set PAYMENT_PRICE_PLATINUM\.$/,
    );
    expect(await setUpBilling(billing.app)).toMatch(
      /^silver: price \S+ was there\ngold: price \S+ was there\nplatinum: price price_\w+ made\nportal: /,
    );
    expect(await price()).toMatch(/^right {2}Price of Platinum: platinum_monthly is £199/);
  });

  it('names its paid tiers where a checkout asks for any other', async () => {
    const principal = await makeMember(billing);
    for (const tier of ['free', 'diamond', 'constructor', '']) {
      await expect(startCheckout(billing.app, principal, { tier })).rejects.toMatchObject({
        code: 'VALIDATION',
        message: 'Choose the Silver, Gold or Platinum plan.',
      });
    }
  });

  it('sells it, and the stored event and the summary show it', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'platinum');
    expect(subscription.metadata.tier).toBe('platinum');
    const { plan, tiers, features } = await readSubscription(billing.app, principal);
    expect(plan).toMatchObject({ tier: 'platinum', name: 'Platinum', status: 'active' });
    expect(features).toEqual(platinum.features);
    expect(tiers.map(({ tier, price, price_source }) => [tier, price?.amount, price_source])).toEqual([
      ['free', undefined, 'declared'],
      ['silver', 2400, 'provider'],
      ['gold', 7900, 'provider'],
      ['platinum', 19_900, 'provider'],
    ]);
    const [row] = await billing.app.db
      .select()
      .from(paymentSubscriptions)
      .where(eq(paymentSubscriptions.id, subscription.id));
    expect(row).toMatchObject({ tier: 'platinum', tierSource: 'price' });
  });

  it('ranks it by its position in the file: above gold, whichever was bought last', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'platinum');
    await makeSecond(billing, subscription.customer, 'gold');
    await billing.settled();
    expect(await tierOf(billing.app, principal.organisationId)).toBe('platinum');

    const lower = await withTiers([free, silver, platinum, gold]);
    await decideAllPlans(lower);
    expect(await tierOf(lower, principal.organisationId)).toBe('gold');
  });

  it('decides every plan anew after a start with other plans, and once', async () => {
    const { principal } = await makeSubscriber(billing, 'platinum');
    const changed = async () =>
      (await billing.app.sql`select id from changes where organisation_id = ${principal.organisationId}`).length;
    const without = await withTiers([free, silver, gold]);
    const before = await changed();
    await decideAllPlans(without);
    await decideAllPlans(without);
    expect(await changed()).toBe(before + 1);
    expect(await tierOf(billing.app, principal.organisationId)).toBe('free');
    await decideAllPlans(billing.app);
    expect(await tierOf(billing.app, principal.organisationId)).toBe('platinum');
  });

  it('leaves that to a node with the same plans', async () => {
    const { principal } = await makeSubscriber(billing, 'platinum');
    await decideAllPlans(billing.app);
    const without = await withTiers([free, silver, gold]);
    const decide = (node: App) =>
      billingJobs({ app: node, scheduled: node })['payment-plans'].handler({ rules: digestOfRules(without) }, 'job');
    await expect(decide(billing.app)).rejects.toThrow('Left to a node');
    expect(await tierOf(billing.app, principal.organisationId)).toBe('platinum');
    await decide(without);
    expect(await tierOf(billing.app, principal.organisationId)).toBe('free');
    await decideAllPlans(billing.app);
  });

  it.each(['platinum', 'free'] as const)(
    'tells the new limits of %s to its organisations, once, and to no others',
    async (tier) => {
      const { principal: platinumOwner } = await makeSubscriber(billing, 'platinum');
      const freeOwner = await makeMember(billing);
      await decideAllPlans(billing.app);
      const told = async ({ organisationId }: { organisationId: string }) =>
        billing.app.sql<{ data: object }[]>`
        select data from changes where organisation_id = ${organisationId} and type = 'plan.changed' order by id`;
      const before = [await told(platinumOwner), await told(freeOwner)];

      const limits = { members: 40, projects: 40, api_calls: 40 };
      const changed = [free, silver, gold, platinum].map((each) => (each?.tier === tier ? { ...each, limits } : each));
      const app = await withTiers(changed);
      await decideAllPlans(app);
      await decideAllPlans(app);
      const after = [await told(platinumOwner), await told(freeOwner)];
      const isConcerned = [tier === 'platinum', tier === 'free'];
      for (const [at, concerned] of isConcerned.entries()) {
        const more = (after[at] ?? []).slice(before[at]?.length);
        expect(more).toMatchObject(concerned ? [{ data: { tier, limits } }] : []);
      }
      await decideAllPlans(billing.app);
    },
  );

  it('gives the free plan, and warns the operator, where the file no longer holds its tier', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'platinum');
    const without = await withTiers([free, silver, gold]);
    expect(await tierOf(without, principal.organisationId)).toBe('free');
    expect((await readSubscription(without, principal)).plan).toMatchObject({ tier: 'free', status: 'active' });
    expect((await reconcileAll(without)).unmappedPrices).toContainEqual(
      expect.objectContaining({ subscription: subscription.id, tier: 'platinum' }),
    );

    const says = /^The plans do not hold the tier platinum, which \d running subscriptions pay for: /;
    await warnOfMissingTiers(without);
    expect(billing.logged.filter(({ message }) => says.test(message))).toHaveLength(1);
    expect((await runChecks(without)).report).toContain('WRONG  Plans: The plans do not hold the tier platinum');

    expect(await missingTiers(billing.app)).toEqual([]);
    expect((await reconcileAll(billing.app)).unmappedPrices).toEqual([]);
    expect(await tierOf(billing.app, principal.organisationId)).toBe('platinum');
  });

  it('starts no look-up of prices where a tier with a stored price was removed', async () => {
    const { app } = billing;
    await refreshPrices(app);
    await app.db
      .update(paymentLivePrices)
      .set({ lookedUpAt: new Date(0) })
      .where(eq(paymentLivePrices.tier, 'platinum'));
    const plans = (await withTiers([free, silver, gold])).plans;
    const without: App = {
      ...app,
      plans,
      priceCache: { ...app.priceCache, prices: {}, readAt: null, lookedUpAt: null },
    };
    expect(Object.keys(await livePrices(without))).toEqual(['silver', 'gold']);
    expect(without.priceCache.lookup).toBeNull();
  });

  it('asks for more prices than the provider answers in one request', async () => {
    const many = Array.from({ length: 11 }, (_, at) => ({ ...platinum, tier: `tier_${at}`, name: `Tier ${at}` }));
    const app = await withTiers([free, ...many]);
    await setUpBilling(app);
    await refreshPrices(app);
    expect(Object.values(app.priceCache.prices).map(([price]) => price?.shown?.amounts.gbp)).toEqual(
      Array(11).fill(19_900),
    );
  });
});
