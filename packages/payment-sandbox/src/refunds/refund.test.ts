import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { declinesLater, postForm, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

/** Buys a plan and returns its paid invoice and the payment intent. */
async function paid() {
  const { id, latest_invoice } = await setup.buy();
  const invoice = latest_invoice as string;
  const [payment] = (await setup.stripe.invoicePayments.list({ invoice })).data;
  return { subscription: id, invoice, intent: payment?.payment.payment_intent as string };
}

function eventsOf(...types: string[]): string[] {
  const events = setup.sandbox.payment.events().map(({ type }) => type);
  return events.filter((type) => types.some((start) => type.startsWith(start)));
}

test('a paid invoice leads to its payment, and the payment to its invoice', async () => {
  const { invoice, intent } = await paid();
  const { latest_charge } = await setup.stripe.paymentIntents.retrieve(intent, { expand: ['latest_charge'] });
  expect(latest_charge).toMatchObject({
    amount: 2400,
    payment_intent: intent,
    payment_method_details: { type: 'card', card: { last4: '4242' } },
  });
  const found = await setup.stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: intent },
    expand: ['data.invoice'],
  });
  expect(found.data).toMatchObject([{ invoice: { id: invoice, status: 'paid' }, amount_paid: 2400 }]);
  const none = { type: 'payment_intent' as const, payment_intent: 'pi_none' };
  await expect(setup.stripe.invoicePayments.list({ payment: none })).rejects.toMatchObject({
    code: 'resource_missing',
  });
});

test('a refund in parts refunds the charge at its last part, and leaves invoice and subscription as they are', async () => {
  const { subscription, invoice, intent } = await paid();
  await setup.stripe.refunds.create({ payment_intent: intent, amount: 400 });
  const rest = await setup.stripe.refunds.create({ payment_intent: intent });
  expect(rest).toMatchObject({ amount: 2000, status: 'succeeded' });
  await expect(setup.stripe.refunds.create({ payment_intent: intent })).rejects.toMatchObject({
    code: 'charge_already_refunded',
  });
  const refunded = setup.sandbox.payment.events().filter(({ type }) => type === 'charge.refunded');
  expect(refunded.map(({ data }) => data.object)).toMatchObject([
    { amount_refunded: 400, refunded: false },
    { amount_refunded: 2400, refunded: true },
  ]);
  expect(eventsOf('refund.')).toEqual(['refund.created', 'refund.created']);
  expect((await setup.stripe.invoices.retrieve(invoice)).status).toBe('paid');
  expect(await setup.statusOf(subscription)).toBe('active');
});

test('more than was paid is not refunded, and what was not paid by a charge neither', async () => {
  const { intent, subscription } = await paid();
  await expect(setup.stripe.refunds.create({ payment_intent: intent, amount: 2401 })).rejects.toMatchObject({
    param: 'amount',
  });
  const { customer } = await setup.stripe.subscriptions.retrieve(subscription);
  setup.sandbox.payment.setCard(customer as string, declinesLater);
  setup.sandbox.payment.clock.advanceToPeriodEnd(subscription);
  const { latest_invoice } = await setup.stripe.subscriptions.retrieve(subscription);
  await setup.stripe.invoices.pay(latest_invoice as string, { paid_out_of_band: true });
  expect(() => setup.sandbox.payment.refund(latest_invoice as string)).toThrow('not paid by a charge');
});

test('a refund that fails gives the amount back to the company', async () => {
  const { invoice, intent } = await paid();
  const refund = setup.sandbox.payment.refund(invoice);
  setup.sandbox.payment.failRefund(refund.id);
  expect(await setup.stripe.refunds.retrieve(refund.id)).toMatchObject({ status: 'failed' });
  const [charge] = (await setup.stripe.charges.list({ payment_intent: intent })).data;
  expect(charge).toMatchObject({ amount_refunded: 0, refunded: false });
  expect(eventsOf('refund.')).toEqual(['refund.created', 'refund.failed', 'refund.updated']);
});

test('a refund to a bank account is pending for five days', async () => {
  const { id: customer } = await setup.stripe.customers.create({});
  const session = await setup.checkout(customer);
  await postForm(session.url as string, { card: '00012345' });
  setup.sandbox.payment.clock.advance({ days: 5 });
  const { invoice } = (await setup.stripe.checkout.sessions.retrieve(session.id)) as { invoice: string };
  const refund: Pick<Stripe.Refund, 'id' | 'status'> = setup.sandbox.payment.refund(invoice);
  expect(refund.status).toBe('pending');
  setup.sandbox.payment.clock.advance({ days: 5 });
  expect((await setup.stripe.refunds.retrieve(refund.id)).status).toBe('succeeded');
  expect(eventsOf('refund.')).toEqual(['refund.created', 'refund.updated']);
});
