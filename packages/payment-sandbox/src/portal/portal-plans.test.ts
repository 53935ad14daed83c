import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { gold, postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('the portal offers no change of plan for a subscription with two items, and makes none', async () => {
  const { id, customer } = await setup.buy();
  const { url } = await setup.stripe.billingPortal.sessions.create({ customer: customer as string });
  expect(await (await fetch(url)).text()).toContain('Change plan to');
  const price = await setup.stripe.prices.create({
    product: 'prod_sandbox_gold',
    currency: 'gbp',
    unit_amount: 500,
    recurring: { interval: 'month' },
  });
  await setup.stripe.subscriptionItems.create({ subscription: id, price: price.id });
  expect(await (await fetch(url)).text()).not.toContain('Change plan to');
  expect((await postForm(url, { act: 'plan', subscription: id, price: gold })).status).toBe(402);
  const { items } = await setup.stripe.subscriptions.retrieve(id);
  expect(items.data.map((item) => item.price.id)).toEqual([silver, price.id]);
});

test('a downgrade that is invoiced at once becomes a credit of the customer, which pays the next renewal', async () => {
  const { id, customer, items } = await setup.buy();
  const item = items.data[0]?.id as string;
  await setup.stripe.subscriptions.update(id, { items: [{ id: item, price: gold }], proration_behavior: 'none' });
  await setup.stripe.subscriptions.update(id, {
    items: [{ id: item, price: silver }],
    proration_behavior: 'always_invoice',
  });
  const { balance } = (await setup.stripe.customers.retrieve(customer as string)) as Stripe.Customer;
  expect(balance).toBeCloseTo(2400 - 7900, -2);
  const [credited] = (await setup.stripe.events.list({ type: 'customer.updated' })).data;
  expect(credited?.data).toMatchObject({ object: { balance }, previous_attributes: { balance: 0 } });

  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  const [renewal] = (await setup.stripe.invoices.list({ subscription: id })).data;
  expect(renewal).toMatchObject({ status: 'paid', total: 2400, amount_due: 0, starting_balance: balance });
  expect((await setup.stripe.invoicePayments.list({ invoice: renewal?.id as string })).data).toEqual([]);
});

test.each([
  ['end_trial', 'active', [7900, 0]],
  ['continue_trial', 'trialing', [0]],
] as const)(
  'a change of plan during a trial, with %s, leaves it %s',
  async (trial_update_behavior, status, amounts) => {
    const { id: customer } = await setup.stripe.customers.create({});
    const session = await setup.stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: silver, quantity: 1 }],
      subscription_data: { trial_period_days: 14 },
      success_url: 'http://localhost:3000/billing',
    });
    setup.sandbox.payment.payCheckout(session.id);
    const [trial] = (await setup.stripe.subscriptions.list({ customer })).data;
    const products = [{ product: 'prod_sandbox_gold', prices: [gold] }];
    const { id: configuration } = await setup.stripe.billingPortal.configurations.create({
      features: {
        subscription_update: { enabled: true, default_allowed_updates: ['price'], products, trial_update_behavior },
      },
    });
    const { url } = await setup.stripe.billingPortal.sessions.create({ customer, configuration });
    await postForm(url, { act: 'plan', subscription: trial?.id as string, price: gold });
    expect(await setup.stripe.subscriptions.retrieve(trial?.id as string)).toMatchObject({
      status,
      items: { data: [{ price: { id: gold } }] },
    });
    const paid = (await setup.stripe.invoices.list({ customer })).data.map(({ amount_paid }) => amount_paid);
    expect(paid).toEqual(amounts);
  },
);
