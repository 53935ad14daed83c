import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { gold, postForm, silver, useCheckedSandbox } from '../../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

/** Opens a portal that leaves lower plans to the end of the period, and charges higher ones at once. */
async function openPortal(customer: string, flow?: Stripe.BillingPortal.SessionCreateParams.FlowData) {
  const products = ['silver', 'gold'].map((tier) => ({
    product: `prod_sandbox_${tier}`,
    prices: [`price_sandbox_${tier}_monthly`],
  }));
  const { id: configuration, features } = await setup.stripe.billingPortal.configurations.create({
    features: {
      subscription_update: {
        enabled: true,
        default_allowed_updates: ['price'],
        products,
        proration_behavior: 'always_invoice',
        schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      },
      subscription_pause: { enabled: false },
    },
  });
  expect(features.subscription_update.schedule_at_period_end.conditions).toEqual([{ type: 'decreasing_item_amount' }]);
  return setup.stripe.billingPortal.sessions.create({ customer, configuration, ...(flow && { flow_data: flow }) });
}

async function goldSubscription(): Promise<Stripe.Subscription> {
  const { id, items } = await setup.buy();
  const item = items.data[0]?.id as string;
  return setup.stripe.subscriptions.update(id, { items: [{ id: item, price: gold }], proration_behavior: 'none' });
}

describe('a lower plan in the portal', () => {
  test('waits for the end of the period, by a schedule', async () => {
    const { id, customer, items } = await goldSubscription();
    const end = items.data[0]?.current_period_end as number;
    const { url } = await openPortal(customer as string);
    expect((await postForm(url, { act: 'plan', subscription: id, price: silver })).status).toBe(303);
    const { schedule, items: now } = await setup.stripe.subscriptions.retrieve(id, { expand: ['schedule'] });
    expect(now.data[0]?.price.id).toBe(gold);
    expect(schedule).toMatchObject({
      status: 'active',
      end_behavior: 'release',
      phases: [
        { end_date: end, items: [{ price: gold }] },
        { start_date: end, items: [{ price: silver }] },
      ],
    });
    expect(setup.typesOf((schedule as Stripe.SubscriptionSchedule).id)).toEqual([
      'subscription_schedule.created',
      'subscription_schedule.updated',
    ]);
    expect(await (await fetch(url)).text()).toContain('Changes to Silver on');

    setup.sandbox.payment.clock.advanceTo(end + 7200);
    expect((await setup.stripe.subscriptions.retrieve(id)).items.data[0]?.price.id).toBe(silver);
    const [renewal] = (await setup.stripe.invoices.list({ subscription: id })).data;
    expect(renewal).toMatchObject({ status: 'paid', amount_paid: 2400 });
    setup.sandbox.payment.clock.advanceToPeriodEnd(id);
    expect(await setup.stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'active', schedule: null });
  });

  test('is given up by keeping the plan', async () => {
    const { id, customer } = await goldSubscription();
    const { url } = await openPortal(customer as string);
    await postForm(url, { act: 'plan', subscription: id, price: silver });
    const { schedule } = await setup.stripe.subscriptions.retrieve(id);
    expect(await (await fetch(url)).text()).toContain('Keep Gold');
    await postForm(url, { act: 'resume', subscription: id });
    expect((await setup.stripe.subscriptions.retrieve(id)).schedule).toBeNull();
    expect((await setup.stripe.subscriptionSchedules.retrieve(schedule as string)).status).toBe('released');
    setup.sandbox.payment.clock.advanceToPeriodEnd(id);
    expect((await setup.stripe.subscriptions.retrieve(id)).items.data[0]?.price.id).toBe(gold);
  });

  test('is confirmed on a page that says when it begins', async () => {
    const { id, customer, items } = await goldSubscription();
    const confirm = (price: string) => ({
      type: 'subscription_update_confirm' as const,
      subscription_update_confirm: { subscription: id, items: [{ id: items.data[0]?.id as string, price }] },
    });
    const page = await (await fetch((await openPortal(customer as string, confirm(silver))).url)).text();
    expect([page.includes('From today'), page.includes('Nothing is charged now')]).toEqual([false, true]);
  });
});

test('a higher plan in the same portal changes at once', async () => {
  const { id, customer } = await setup.buy();
  const { url } = await openPortal(customer as string);
  await postForm(url, { act: 'plan', subscription: id, price: gold });
  expect(await setup.stripe.subscriptions.retrieve(id)).toMatchObject({
    schedule: null,
    items: { data: [{ price: { id: gold } }] },
  });
});

test('the company schedules a change and releases it by controls', async () => {
  const { id } = await setup.buy();
  const schedule = setup.sandbox.payment.scheduleChange(id, gold);
  expect((await setup.stripe.subscriptions.retrieve(id)).schedule).toBe(schedule.id);
  expect(() => setup.sandbox.payment.scheduleChange(id, gold)).toThrow('You cannot schedule');
  setup.sandbox.payment.releaseSchedule(id);
  expect((await setup.stripe.subscriptions.retrieve(id)).schedule).toBeNull();
  expect(() => setup.sandbox.payment.releaseSchedule(id)).toThrow('No such');
});
