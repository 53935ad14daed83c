import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCheckout } from '../../billing/actions/start-checkout.ts';
import { decideDuePlans } from '../../billing/entitlement/decide-plan.ts';
import { readOverride } from '../../billing/entitlement/override.ts';
import { readOverview } from '../../billing/summary/read-overview.ts';
import { currentPlan, readPlan } from '../../organisations/plan.ts';
import { organisationPlans, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { changes } from '../../platform/db/schema/changes.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { type BillingTest, makeMember, startBillingTest } from '../../testing/billing.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { decideNow, givePlan } from '../../testing/factories.ts';
import { commandLine } from '../actor.ts';
import { endOverride, overrideFields, setOverride } from './override.ts';

let billing: BillingTest;
beforeAll(async () => {
  billing = await startBillingTest({ work: false });
  billing.stopClock();
});
afterAll(() => billing.close());

const set = (organisationId: string, fields: object) =>
  setOverride(
    billing.app,
    { organisationId, ...overrideFields.parse({ reason: 'By contract.', ...fields }) },
    commandLine,
  );
const end = (organisationId: string) => endOverride(billing.app, { organisationId }, commandLine);
const plan = (organisationId: string) => readPlan(billing.app, organisationId);
const inDays = (days: number) => new Date(billing.app.now().getTime() + days * dayMilliseconds);

/** What the feed has told of an organisation's plan: tier, end and limit of projects. */
async function told(organisationId: string): Promise<string[]> {
  const rows = await billing.app.db.select().from(changes).where(eq(changes.organisationId, organisationId));
  return rows
    .filter(({ type }) => type === 'plan.changed')
    .map(({ data }) => data as { tier: string; ends_at: string | null; limits: Record<string, number | null> })
    .map(({ tier, ends_at, limits }) => `${tier} ${ends_at ?? 'stays'} ${limits.projects}`);
}

test('a tier is given until its end, shown as the plan’s end and told once each, without the provider', async () => {
  const principal = await makeMember(billing);
  const { organisationId } = principal;
  const until = inDays(10);
  const { override, withoutEffect } = await set(organisationId, { tier: 'gold', until: until.toISOString() });
  expect(override).toEqual({
    tier: 'gold',
    limits: {},
    features: {},
    grace_days: null,
    reason: 'By contract.',
    until: until.toISOString(),
  });
  expect(withoutEffect).toEqual([]);
  expect(await plan(organisationId)).toMatchObject({ tier: 'gold', source: 'operator', subscription: null });
  const { plan: shown } = await readOverview(billing.app, principal);
  expect(shown).toMatchObject({ tier: 'gold', status: 'none', ends_at: until.toISOString(), price: null });
  expect(shown.agreed).toEqual({ tier: true, meters: [], features: [], until: until.toISOString() });

  await set(organisationId, { tier: 'gold', until: until.toISOString(), reason: 'The same again.' });
  expect(await told(organisationId)).toHaveLength(1);

  const later = { ...billing.app, now: () => until };
  expect(await readPlan(later, organisationId)).toMatchObject({ tier: 'free', source: 'free', agreed: null });
  await decideDuePlans(later);
  expect(await readOverride(later, organisationId)).toBeNull();
  expect((await told(organisationId)).map((line) => line.split(' ')[0])).toEqual(['gold', 'free']);
});

test('higher limits and features are added to the plan, and end with the override', async () => {
  const { organisationId } = await makeMember(billing);
  const { plan: before } = await plan(organisationId);
  await set(organisationId, { limits: { projects: 50, members: null }, features: { audit_log: true } });
  const { plan: now, tier } = await plan(organisationId);
  expect(tier).toBe('free');
  expect(now.limits).toEqual({ ...before.limits, projects: 50, members: null });
  expect(now.features).toEqual({ ...before.features, audit_log: true });
  expect(await end(organisationId)).toMatchObject({ ended: true });
  expect(await end(organisationId)).toMatchObject({ ended: false });
  expect((await plan(organisationId)).plan).toEqual(before);
  expect(await told(organisationId)).toEqual(['free stays 50', `free stays ${before.limits.projects}`]);
});

test('parts that give no more than the plan change nothing, and are named', async () => {
  const { organisationId } = await makeMember(billing);
  await givePlan(billing, organisationId, 'gold');
  const { plan: before } = await plan(organisationId);
  const fields = { tier: 'silver', limits: { projects: 1 }, features: { audit_log: false }, grace_days: 1 };
  const { withoutEffect } = await set(organisationId, fields);
  expect(withoutEffect).toEqual(['tier silver', 'limit projects', 'feature audit_log', 'days of grace']);
  expect(await plan(organisationId)).toMatchObject({ tier: 'gold', source: 'subscription', plan: before });
});

test('days of grace keep a past-due plan for as long', async () => {
  const { organisationId } = await makeMember(billing);
  await givePlan(billing, organisationId, 'silver');
  await billing.app.db
    .update(paymentSubscriptions)
    .set({ status: 'past_due', pastDueSince: inDays(-10) })
    .where(eq(paymentSubscriptions.organisationId, organisationId));
  await decideNow(billing.app, organisationId);
  expect((await plan(organisationId)).tier).toBe('free');
  await set(organisationId, { grace_days: 14 });
  expect((await plan(organisationId)).tier).toBe('silver');
  expect((await readPlan({ ...billing.app, now: () => inDays(4) }, organisationId)).tier).toBe('free');
  await end(organisationId);
  expect((await plan(organisationId)).tier).toBe('free');
});

test('checkout looks at subscriptions alone', async () => {
  const principal = await makeMember(billing);
  await set(principal.organisationId, { tier: 'gold' });
  expect(await startCheckout(billing.app, principal, { tier: 'silver' })).toMatchObject({ url: expect.any(String) });
});

describe('is refused', () => {
  test.each([
    ['without any part', {}, 'reason'],
    ['with an end that has passed', { tier: 'gold', until: '2020-01-31' }, 'until'],
    ['with an unknown tier', { tier: 'platinum' }, 'tier'],
    ['with an unknown meter', { limits: { cars: 1 } }, 'limits.cars'],
    ['with an unknown feature', { features: { flying: true } }, 'features.flying'],
    ['with a name that every object has', { features: { constructor: true } }, 'features.constructor'],
  ])('%s', async (_, fields, field) => {
    const { organisationId } = await makeMember(billing);
    await expect(set(organisationId, fields)).rejects.toMatchObject({ code: 'VALIDATION', fields: { [field]: {} } });
    expect(await readOverride(billing.app, organisationId)).toBeNull();
  });

  test.each([
    ['a negative limit', { limits: { projects: -1 } }],
    ['a limit in text', { limits: { projects: '5' } }],
    ['a fraction of a day', { grace_days: 1.5 }],
    ['a time without a zone', { until: '2027-01-31T12:00:00' }],
    ['a misspelt name', { untill: '2027-01-31' }],
    ['an empty reason', { reason: ' ' }],
  ])('%s', (_, fields) => {
    expect(overrideFields.safeParse({ tier: 'gold', reason: 'Why.', ...fields }).success).toBe(false);
  });

  test('for an organisation that is deleted meanwhile', async () => {
    const { organisationId } = await makeMember(billing);
    let answer: Promise<unknown> = Promise.resolve();
    await billing.app.db.transaction(async (tx) => {
      await tx.delete(organisations).where(eq(organisations.id, organisationId));
      answer = set(organisationId, { tier: 'gold' }).catch(({ code }) => code);
      await waitingForLocks(billing, 1);
    });
    expect(await answer).toBe('NOT_FOUND');
  });

  test('for an organisation that is not there', async () => {
    await expect(set('00000000-0000-7000-8000-000000000000', { tier: 'gold' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

test('a date alone ends with its day', () => {
  const { until } = overrideFields.parse({ tier: 'gold', reason: 'Why.', until: '2027-01-31' });
  expect(until).toEqual(new Date('2027-02-01T00:00:00Z'));
});

test.each(['9999-12-31', '9999-12-31T23:59:59-01:00'])(
  'until %s is the last time that can be stored',
  async (until) => {
    const { organisationId } = await makeMember(billing);
    const { override } = await set(organisationId, { tier: 'gold', until });
    expect(override.until).toBe('9999-12-31T23:59:59.999Z');
    expect(await plan(organisationId)).toMatchObject({ tier: 'gold' });
  },
);

const override = fc.record({
  tier: fc.constantFrom(null, 'free', 'silver', 'gold'),
  limits: fc.dictionary(fc.constantFrom('projects', 'members'), fc.option(fc.nat(100))),
  features: fc.dictionary(fc.constantFrom('audit_log'), fc.boolean()),
  grace_days: fc.option(fc.nat(30)),
  days: fc.option(fc.integer({ min: 1, max: 20 })),
});

test('it never lowers what the subscription gives, at any time, and gives what it names until its end', async () => {
  const { app } = billing;
  const ranks = app.plans.tiers.map(({ tier }) => tier);
  const paid = fc.constantFrom('none', 'silver', 'gold');
  await fc.assert(
    fc.asyncProperty(override, paid, fc.nat(30), fc.nat(25), async ({ days, ...fields }, tier, pastDueDays, later) => {
      const { organisationId } = await makeMember(billing);
      if (tier !== 'none') await givePlan(billing, organisationId, tier as 'silver');
      if (tier !== 'none' && pastDueDays < 15) {
        await app.db
          .update(paymentSubscriptions)
          .set({ status: 'past_due', pastDueSince: inDays(-pastDueDays) })
          .where(eq(paymentSubscriptions.organisationId, organisationId));
        await decideNow(app, organisationId);
      }
      const at = { ...app, now: () => inDays(later) };
      const without = await readPlan(at, organisationId);
      const until = days === null ? null : inDays(days).toISOString();
      const isRefused = await set(organisationId, { ...fields, until }).then(
        () => false,
        () => true,
      );
      // As the job does within the minute: what follows after the next change is decided then.
      if (days !== null && days <= later) await decideNow({ ...app, now: () => inDays(days) }, organisationId);
      const given = await readPlan(at, organisationId);
      if (isRefused || (days !== null && days <= later)) {
        expect(given.plan).toEqual(without.plan);
        return;
      }

      const named = fields.tier ?? 'free';
      expect(ranks.indexOf(given.tier)).toBeGreaterThanOrEqual(
        Math.max(ranks.indexOf(without.tier), ranks.indexOf(named)),
      );
      const value = (limit: number | null | undefined) => (limit === null ? Number.POSITIVE_INFINITY : (limit ?? 0));
      for (const [meter, limit] of Object.entries(given.plan.limits)) {
        expect(value(limit)).toBeGreaterThanOrEqual(value(without.plan.limits[meter]));
        expect(value(limit)).toBeGreaterThanOrEqual(value(fields.limits[meter]));
      }
      for (const [name, has] of Object.entries(given.plan.features)) {
        expect(has || !(without.plan.features[name] || fields.features[name])).toBe(true);
      }
      const [row] = await app.db
        .select()
        .from(organisationPlans)
        .where(eq(organisationPlans.organisationId, organisationId));
      expect(currentPlan(at, row ?? null)).toEqual(given);
    }),
    { numRuns: 150 },
  );
});
