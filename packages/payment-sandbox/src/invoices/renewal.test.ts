import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { declinesLater, postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('a renewal moves the period and charges the card an hour later', async () => {
  const bought = await setup.buy();
  const end = bought.items.data[0]?.current_period_end as number;
  setup.sandbox.payment.clock.advanceTo(end);
  const renewed = await setup.stripe.subscriptions.retrieve(bought.id, { expand: ['latest_invoice'] });
  expect(renewed.items.data[0]).toMatchObject({ current_period_start: end });
  expect(renewed).toMatchObject({
    status: 'active',
    latest_invoice: { status: 'draft', billing_reason: 'subscription_cycle' },
  });
  setup.sandbox.payment.clock.advance({ hours: 1 });
  const invoices = await setup.stripe.invoices.list({ subscription: bought.id, status: 'paid' });
  expect(invoices.data.map(({ amount_paid }) => amount_paid)).toEqual([2400, 2400]);
  expect(invoices.data[0]?.parent?.subscription_details?.subscription).toBe(bought.id);
});

test('a declined renewal makes the subscription past due, is retried three times, and ends in cancellation', async () => {
  const bought = await setup.buy();
  setup.sandbox.payment.setCard(bought.customer as string, declinesLater);
  setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  expect(await setup.statusOf(bought.id)).toBe('past_due');
  const [open] = (await setup.stripe.invoices.list({ customer: bought.customer as string, status: 'open' })).data;
  expect(open).toMatchObject({ attempt_count: 1, hosted_invoice_url: `${setup.sandbox.url}/pay/invoice/${open?.id}` });
  const retries: string[] = [];
  while ((await setup.statusOf(bought.id)) === 'past_due')
    retries.push(setup.sandbox.payment.clock.advanceToNext() ?? 'nothing');
  expect(retries).toEqual([
    'an unpaid invoice is charged again (attempt 2)',
    'an unpaid invoice is charged again (attempt 3)',
    'an unpaid invoice is charged again (attempt 4)',
  ]);
  expect(await setup.stripe.subscriptions.retrieve(bought.id)).toMatchObject({
    status: 'canceled',
    cancellation_details: { reason: 'payment_failed' },
  });
  expect(setup.typesOf(bought.id).slice(-1)).toEqual(['customer.subscription.deleted']);
  expect(setup.sandbox.payment.events().filter(({ type }) => type === 'invoice.payment_failed')).toHaveLength(4);
});

test('the end of dunning can also leave the subscription unpaid, or past due', async () => {
  for (const end of ['unpaid', 'past_due'] as const) {
    setup.sandbox.payment.set({ dunning_end: end });
    const bought = await setup.buy();
    setup.sandbox.payment.setCard(bought.customer as string, declinesLater);
    setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
    setup.sandbox.payment.clock.advance({ days: 16 });
    expect(await setup.statusOf(bought.id)).toBe(end);
    await setup.stripe.subscriptions.cancel(bought.id);
  }
});

test('paying the open invoice on its page makes the subscription active; a new card alone pays nothing', async () => {
  const bought = await setup.buy();
  const customer = bought.customer as string;
  setup.sandbox.payment.setCard(customer, declinesLater);
  setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  setup.sandbox.payment.setCard(customer, '4242424242424242');
  expect(await setup.statusOf(bought.id)).toBe('past_due');
  const [open] = (await setup.stripe.invoices.list({ customer, status: 'open' })).data;
  const address = open?.hosted_invoice_url as string;
  const declined = await postForm(address, { card: '4000000000000002' });
  expect(declined.status).toBe(402);
  expect(await setup.statusOf(bought.id)).toBe('past_due');
  expect((await postForm(address, { card: '4242424242424242' })).status).toBe(303);
  expect(await setup.statusOf(bought.id)).toBe('active');
  expect((await setup.stripe.invoices.retrieve(open?.id as string)).status).toBe('paid');
  await expect(setup.stripe.invoices.pay(open?.id as string)).rejects.toMatchObject({
    message: 'Invoice is already paid',
  });
});

test('a failed renewal can be paid through the API with another card', async () => {
  const bought = await setup.buy();
  const customer = bought.customer as string;
  setup.sandbox.payment.setCard(customer, declinesLater);
  setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  const [open] = (await setup.stripe.invoices.list({ customer, status: 'open' })).data;
  await expect(setup.stripe.invoices.pay(open?.id as string)).rejects.toMatchObject({
    statusCode: 402,
    code: 'card_declined',
  });
  const method = await setup.stripe.paymentMethods.attach('pm_card_visa', { customer });
  const paid = await setup.stripe.invoices.pay(open?.id as string, { payment_method: method.id });
  expect(paid).toMatchObject({ status: 'paid', attempt_count: 1 });
  expect(await setup.statusOf(bought.id)).toBe('active');
});

test('a renewal with a card that requires authentication causes the event invoice.payment_action_required', async () => {
  const bought = await setup.buy();
  setup.sandbox.payment.setCard(bought.customer as string, '4000002760003184');
  setup.sandbox.payment.clock.advanceToPeriodEnd(bought.id);
  expect(setup.sandbox.payment.events().map(({ type }) => type)).toContain('invoice.payment_action_required');
});

test('an unpaid first invoice leaves the subscription incomplete, and after 23 hours it expires', async () => {
  const customer = await setup.stripe.customers.create({ payment_method: 'pm_card_chargeCustomerFail' });
  const [method] = (await setup.stripe.paymentMethods.list({ customer: customer.id })).data;
  const create = () =>
    setup.stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: silver }],
      default_payment_method: method?.id as string,
      expand: ['latest_invoice'],
    });
  const paidLate = await create();
  expect(paidLate).toMatchObject({ status: 'incomplete', latest_invoice: { status: 'open' } });
  setup.sandbox.payment.payInvoice((paidLate.latest_invoice as Stripe.Invoice).id as string);
  expect(await setup.statusOf(paidLate.id)).toBe('active');
  const never = await create();
  setup.sandbox.payment.clock.advance({ hours: 23 });
  expect(await setup.statusOf(never.id)).toBe('incomplete_expired');
});
