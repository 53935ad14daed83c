import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { requireScope } from '../../auth/principal.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { makeMember, makeSecond, makeSubscriber } from '../../testing/billing.ts';
import { decideNow } from '../../testing/factories.ts';
import { principalOf } from '../../testing/principal.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { refreshPrices } from '../prices/live-prices.ts';
import { readSubscription } from './read-subscription.ts';

const billing = useBillingTest();

describe('the subscription summary', () => {
  test('of an organisation without a plan has the documented shape', async () => {
    const principal = await makeMember(billing, 'viewer');
    await refreshPrices(billing.app);
    const summary = await readSubscription(billing.app, principal);
    expect(summary).toEqual({
      organisation: principal.organisation,
      plan: {
        tier: 'free',
        name: 'Free',
        status: 'none',
        cancel_at_period_end: false,
        current_period_end: null,
        ends_at: null,
        price: null,
      },
      usage: [
        { meter: 'members', name: 'Members', used: 1, limit: 2, resets_at: null },
        { meter: 'projects', name: 'Projects', used: 0, limit: 3, resets_at: null },
        {
          meter: 'api_calls',
          name: 'API calls',
          used: 0,
          limit: 1000,
          resets_at: expect.stringMatching(/-01T00:00:00.000Z$/),
        },
      ],
      features: { audit_log: false },
      tiers: [
        {
          tier: 'free',
          name: 'Free',
          price: null,
          price_source: 'declared',
          limits: { members: 2, projects: 3, api_calls: 1000 },
          features: { audit_log: false },
        },
        {
          tier: 'silver',
          name: 'Silver',
          price: { amount: 2400, currency: 'gbp', interval: 'month' },
          price_source: 'provider',
          limits: { members: 10, projects: 25, api_calls: 50_000 },
          features: { audit_log: true },
        },
        {
          tier: 'gold',
          name: 'Gold',
          price: { amount: 7900, currency: 'gbp', interval: 'month' },
          price_source: 'provider',
          limits: { members: null, projects: 200, api_calls: 1_000_000 },
          features: { audit_log: true },
        },
      ],
      billing_enabled: true,
    });
  });

  test('of a paying organisation has its tier’s limits and features', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'gold');
    const { plan, usage, features } = await readSubscription(billing.app, principal);
    const end = new Date((subscription.items.data[0]?.current_period_end ?? 0) * 1000).toISOString();
    expect(plan).toEqual({
      tier: 'gold',
      name: 'Gold',
      status: 'active',
      cancel_at_period_end: false,
      current_period_end: end,
      ends_at: null,
      price: { amount: 7900, currency: 'gbp', interval: 'month', quantity: 1 },
    });
    expect(usage.map(({ limit }) => limit)).toEqual([null, 200, 1_000_000]);
    expect(features.audit_log).toBe(true);
  });

  test('shows what is paid, not the list price: of a subscriber from before a price rise, and of five units', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const [item] = subscription.items.data;
    await billing.app.payment.ask((api) =>
      api.prices.create({
        product: String(item?.price.product),
        currency: 'gbp',
        unit_amount: 3000,
        recurring: { interval: 'month' },
        lookup_key: 'silver_monthly',
        transfer_lookup_key: true,
      }),
    );
    await billing.settled();
    await refreshPrices(billing.app);
    const { plan, tiers } = await readSubscription(billing.app, principal);
    expect(tiers[1]?.price).toMatchObject({ amount: 3000 });
    expect(plan.price).toEqual({ amount: 2400, currency: 'gbp', interval: 'month', quantity: 1 });

    await billing.app.payment.ask((api) => api.subscriptionItems.update(item?.id ?? '', { quantity: 5 }));
    await billing.settled();
    const { price } = (await readSubscription(billing.app, principal)).plan;
    expect(price).toEqual({ amount: 12_000, currency: 'gbp', interval: 'month', quantity: 5 });
  });

  test('without billing reports billing_enabled false and the declared prices', async () => {
    const summary = await readSubscription({ ...billing.app, payment: null }, await makeMember(billing));
    expect(summary.billing_enabled).toBe(false);
    expect(summary.tiers.map(({ price_source }) => price_source)).toEqual(['declared', 'declared', 'declared']);
  });

  test('keeps the tier for the grace period of a failed payment', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.forceStatus(subscription.id, 'past_due');
    await billing.settled();
    const at = (days: number) => ({ ...billing.app, now: () => new Date(Date.now() + days * dayMilliseconds) });
    expect((await readSubscription(at(6.9), principal)).plan).toMatchObject({ tier: 'silver', status: 'past_due' });
    expect((await readSubscription(at(7.1), principal)).plan).toMatchObject({
      tier: 'free',
      name: 'Free',
      status: 'past_due',
    });
  });

  test('shows the free plan after a scheduled end, before the provider confirms it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await billing.app.db
      .update(paymentSubscriptions)
      .set({ cancelAtPeriodEnd: true, endsAt: new Date(Date.now() - 1000) })
      .where(eq(paymentSubscriptions.id, subscription.id));
    await decideNow(billing.app, principal.organisationId);
    expect((await readSubscription(billing.app, principal)).plan).toEqual({
      tier: 'free',
      name: 'Free',
      status: 'active',
      cancel_at_period_end: false,
      current_period_end: null,
      ends_at: null,
      price: null,
    });
  });

  test('shows the best of several subscriptions, so that the end of an old one does not remove the plan', async () => {
    const { principal, subscription } = await makeSubscriber(billing, 'silver');
    await makeSecond(billing, subscription.customer, 'gold');
    await billing.settled();
    expect((await readSubscription(billing.app, principal)).plan.tier).toBe('gold');
    billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
    await billing.settled();
    expect((await readSubscription(billing.app, principal)).plan).toMatchObject({ tier: 'gold', status: 'active' });
  });

  test('needs an organisation', async () => {
    const { user, role, sessionId } = await makeMember(billing);
    const outside = principalOf({ user, organisation: null, role, sessionId, accountStatus: 'active' });
    await expect(readSubscription(billing.app, requireScope(outside, 'READ'))).rejects.toMatchObject({
      code: 'NO_ORGANISATION',
      message: 'This account is not scoped to an organisation.',
    });
  });
});

test('PostgreSQL keeps its plan of the statement, however many readers share it', async () => {
  const { principal } = await makeSubscriber(billing);
  for (let round = 0; round < 120; round++) {
    await Promise.all(Array.from({ length: 2 + (round % 7) }, () => readSubscription(billing.app, principal)));
  }
  const ofConnection = () => billing.app.sql<{ planned: number }[]>`
    select custom_plans::int as planned, pg_sleep(0.02) from pg_prepared_statements
    where statement like '%asked."organisationId"%' and generic_plans + custom_plans > 5`;
  const all = (await Promise.all(Array.from({ length: 10 }, ofConnection))).flat();
  expect(all.length).toBeGreaterThan(0);
  for (const each of all) expect(each).toMatchObject({ planned: 5 });
});
