import { expect, test } from 'vitest';
import { type Operator, requireScope } from '../../auth/principal.ts';
import { readDrift } from '../../operators/events/drift.ts';
import { makeMember, makeSecond, makeSubscriber, priceOf } from '../../testing/billing.ts';
import { principalOf } from '../../testing/principal.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { refreshPrices } from '../prices/live-prices.ts';
import { syncSubscription } from '../sync/sync.ts';
import { readOverview } from './read-overview.ts';
import { readSubscription } from './read-subscription.ts';

const billing = useBillingTest();

test('the overview is the summary with the end that is not confirmed, the kind of period of each counter, and the notice', async () => {
  const { principal } = await makeSubscriber(billing);
  const meters = billing.app.plans.meters.map((meter) => ({ ...meter, resets: 'subscription_period' as const }));
  const app = { ...billing.app, plans: { ...billing.app.plans, meters } };
  const summary = await readSubscription(app, principal);
  const resets = { members: null, projects: null, api_calls: 'subscription_period' };
  expect(await readOverview(app, principal)).toEqual({
    ...summary,
    plan: {
      ...summary.plan,
      ended_unconfirmed_at: null,
      pays_for: { tier: 'silver', interval: 'month' },
      change: null,
      trial_ended: false,
      collection_paused: false,
      days_until_due: null,
      held: null,
      cancel_ends_now: false,
      another_goes_on: false,
      subscription_ends_at: null,
      discounts: [],
      agreed: null,
      credit: null,
      payment_method: 'visa 4242',
    },
    trials: {},
    currency: { currency: 'gbp', choices: [] },
    tax: null,
    unavailable_prices: [],
    usage: summary.usage.map((reading) => ({ ...reading, resets: resets[reading.meter as keyof typeof resets] })),
    notice: null,
  });
});

test('a scheduled end is unconfirmed from its time until the provider reports it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { ends_at } = await setCancellation(billing.app, principal, { cancel: true });
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({ ends_at, ended_unconfirmed_at: null });

  billing.sandbox.payment.set({ drop_deliveries: true });
  const atEnd = { ...billing.app, now: () => new Date(ends_at ?? 0) };
  expect((await readOverview(atEnd, principal)).plan).toEqual({
    tier: 'free',
    name: 'Free',
    status: 'active',
    cancel_at_period_end: false,
    current_period_end: null,
    ends_at: null,
    price: null,
    ended_unconfirmed_at: ends_at,
    pays_for: null,
    change: null,
    trial_ended: false,
    collection_paused: false,
    days_until_due: null,
    discounts: [],
    held: null,
    cancel_ends_now: false,
    another_goes_on: false,
    subscription_ends_at: null,
    agreed: null,
    credit: null,
    payment_method: 'visa 4242',
  });

  billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
  await syncSubscription(billing.app, subscription.id);
  expect((await readOverview(atEnd, principal)).plan).toMatchObject({ status: 'canceled', ended_unconfirmed_at: null });
});

test('an end after further periods is told beside that of the period, also of another subscription, and cancel moves it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { ask } = billing.app.payment;
  const periodEnd = subscription.items.data[0]?.current_period_end ?? 0;
  const later = periodEnd + 90 * 86_400;
  const endLater = (id: string) => ask((api) => api.subscriptions.update(id, { cancel_at: later }));
  const plan = async () => {
    await billing.settled();
    return (await readOverview(billing.app, principal)).plan;
  };
  const iso = (second: number) => new Date(1000 * second).toISOString();
  await endLater(subscription.id);
  expect(await plan()).toMatchObject({
    cancel_at_period_end: true,
    current_period_end: iso(periodEnd),
    subscription_ends_at: iso(later),
    another_goes_on: false,
  });

  const other = await makeSecond(billing, subscription.customer, 'silver');
  await endLater(other.id);
  expect(await plan()).toMatchObject({ another_goes_on: true });

  await setCancellation(billing.app, principal, { cancel: true });
  const moved = await plan();
  expect(moved).toMatchObject({ cancel_at_period_end: true, another_goes_on: false });
  expect(moved.subscription_ends_at).toBe(moved.current_period_end);
});

test('only administrators see the payment method', async () => {
  const { principal } = await makeSubscriber(billing);
  const viewer = requireScope(principalOf({ ...principal, role: 'viewer' }), 'READ');
  expect((await readOverview(billing.app, principal)).plan.payment_method).toBe('visa 4242');
  expect((await readOverview(billing.app, viewer)).plan).not.toHaveProperty('payment_method');
});

test('without a subscription no end is unconfirmed', async () => {
  const principal = await makeMember(billing, 'viewer');
  expect((await readOverview(billing.app, principal)).plan.ended_unconfirmed_at).toBeNull();
});

test('only administrators receive the notice, and no user does while billing is off', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();

  expect((await readOverview(billing.app, principal)).notice).toEqual({
    kind: 'payment_failed',
    invoice_url: expect.stringContaining('/pay/invoice/'),
    grace_ends_at: expect.any(String),
    amount: { amount: 2400, currency: 'gbp' },
    next_attempt_at: expect.any(String),
    payment_method: 'visa 0341',
  });
  const member = requireScope(principalOf({ ...principal, role: 'member' }), 'READ');
  expect((await readOverview(billing.app, member)).notice).toBeNull();
  expect((await readOverview({ ...billing.app, payment: null }, principal)).notice).toBeNull();
});

test('the notice names the scheduled end where that comes before the end of the grace', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();
  const { ask } = billing.app.payment;
  const soon = billing.sandbox.payment.clock.now() + 2 * 86_400;
  await ask((api) => api.subscriptions.update(subscription.id, { cancel_at: soon }));
  await billing.settled();
  const { notice } = await readOverview(billing.app, principal);
  expect(notice?.grace_ends_at).toBe(new Date(1000 * soon).toISOString());
});

test('a change of plan that was scheduled elsewhere is told, until it is released', async () => {
  const { principal, subscription } = await makeSubscriber(billing, 'gold');
  const { payment } = billing.sandbox;
  payment.scheduleChange(subscription.id, priceOf(billing, 'silver'));
  await billing.settled();
  const at = new Date((subscription.items.data[0]?.current_period_end ?? 0) * 1000).toISOString();
  expect((await readOverview(billing.app, principal)).plan.change).toEqual({ name: 'Silver', interval: 'month', at });

  await setCancellation(billing.app, principal, { cancel: false });
  expect(subscription.schedule).toBeNull();
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({ tier: 'gold', change: null });
});

test('a schedule is told by its own events alone, also a later edit, of which the subscription sends none', async () => {
  const { principal, subscription } = await makeSubscriber(billing, 'gold');
  const { payment } = billing.sandbox;
  const [endpoint] = Object.values(payment.state().webhook_endpoints);
  if (endpoint === undefined) throw new Error('There is no endpoint.');
  const types = endpoint.enabled_events;
  endpoint.enabled_events = ['subscription_schedule.updated', 'subscription_schedule.released'];
  const change = async () => {
    await billing.settled();
    return (await readOverview(billing.app, principal)).plan.change;
  };
  try {
    payment.scheduleChange(subscription.id, priceOf(billing, 'silver'));
    const at = new Date((subscription.items.data[0]?.current_period_end ?? 0) * 1000).toISOString();
    expect(await change()).toEqual({ name: 'Silver', interval: 'month', at });

    const schedule = payment.state().subscription_schedules[String(subscription.schedule)];
    const [current, next] = schedule?.phases ?? [];
    const gold = [{ price: priceOf(billing, 'gold'), quantity: 1 }];
    const { start_date = 0, end_date = 0 } = current ?? {};
    const phases = [
      { items: gold, start_date, end_date },
      { items: gold, start_date: end_date, end_date: next?.end_date ?? end_date + 86_400 },
    ];
    await billing.app.payment.ask((api) => api.subscriptionSchedules.update(schedule?.id ?? '', { phases }));
    expect(await change()).toEqual({ name: 'Gold', interval: 'month', at });

    payment.releaseSchedule(subscription.id);
    expect(await change()).toBeNull();
  } finally {
    endpoint.enabled_events = types;
  }
});

test('what a downgrade gives back is told as credit', async () => {
  const { principal, subscription } = await makeSubscriber(billing, 'gold');
  const items = [{ id: subscription.items.data[0]?.id ?? '', price: priceOf(billing, 'silver') }];
  await billing.app.payment.ask((api) =>
    api.subscriptions.update(subscription.id, { items, proration_behavior: 'always_invoice' }),
  );
  await billing.settled();
  const { credit } = (await readOverview(billing.app, principal)).plan;
  expect(credit).toEqual({ amount: expect.any(Number), currency: 'gbp' });
  expect(credit?.amount).toBeGreaterThan(5000);
});

test('a pause of the collection is told', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.pauseCollection(subscription.id, 'void');
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({
    status: 'active',
    collection_paused: true,
  });
});

test('a plan whose price is archived is not available, and its price is no failure to read prices', async () => {
  const principal = await makeMember(billing);
  await billing.app.payment.ask((api) => api.prices.update(priceOf(billing, 'silver'), { active: false }));
  await billing.settled();
  await refreshPrices(billing.app);
  expect((await readOverview(billing.app, principal)).unavailable_prices).toEqual([
    { tier: 'silver', interval: 'month' },
  ]);
  expect((await readDrift(billing.app, {} as Operator)).unsold).toEqual(['Silver']);
});
