import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { gold, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('a plan change keeps the subscription: always_invoice bills the difference now, and a credit pays the next invoices', async () => {
  const bought = await setup.buy();
  const item = bought.items.data[0]?.id as string;
  const half = ((bought.items.data[0]?.current_period_end as number) - bought.created) / 2;
  setup.sandbox.payment.clock.advance({ seconds: Math.floor(half) });
  const up = await setup.stripe.subscriptions.update(bought.id, {
    items: [{ id: item, price: gold }],
    proration_behavior: 'always_invoice',
    expand: ['latest_invoice'],
  });
  expect(up.items.data).toHaveLength(1);
  expect(up.items.data[0]).toMatchObject({ id: item, price: { id: gold } });
  expect((up.latest_invoice as Stripe.Invoice).amount_paid).toBeCloseTo(2750, -1);
  await setup.stripe.subscriptions.update(bought.id, {
    items: [{ id: item, price: silver }],
    proration_behavior: 'always_invoice',
  });
  const customer = (await setup.stripe.customers.retrieve(bought.customer as string)) as Stripe.Customer;
  expect(customer.balance).toBeCloseTo(-2750, -1);
  setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  const [renewal] = (await setup.stripe.invoices.list({ subscription: bought.id })).data;
  expect(renewal).toMatchObject({ status: 'paid', total: 2400, amount_due: 0 });
});

test('create_prorations bills the difference on the next invoice', async () => {
  const bought = await setup.buy();
  await setup.stripe.subscriptionItems.update(bought.items.data[0]?.id as string, { price: gold });
  setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  const [renewal] = (await setup.stripe.invoices.list({ subscription: bought.id })).data;
  expect(renewal?.lines.data).toHaveLength(3);
  expect(renewal?.amount_paid).toBeCloseTo(7900 + 5500, -2);
});

test('with error_if_incomplete, a plan change whose charge is declined changes nothing', async () => {
  const bought = await setup.buy();
  setup.sandbox.payment.setCard(bought.customer as string, '4000000000000341');
  const change = { items: [{ id: bought.items.data[0]?.id as string, price: gold }] };
  await expect(
    setup.stripe.subscriptions.update(bought.id, {
      ...change,
      proration_behavior: 'always_invoice',
      payment_behavior: 'error_if_incomplete',
    }),
  ).rejects.toMatchObject({ statusCode: 402, code: 'card_declined' });
  expect((await setup.stripe.subscriptions.retrieve(bought.id)).items.data[0]?.price.id).toBe(silver);
});
