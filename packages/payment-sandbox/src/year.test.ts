import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { declinesLater, gold, silver, useCheckedSandbox } from './testing/checked-sandbox.ts';

const setup = useCheckedSandbox();
const goodCard = '4242424242424242';

test('a year with an organisation: every answer and event agrees with the types, and the account adds up', async () => {
  const { stripe } = setup;
  const { payment } = setup.sandbox;
  const { id: customer } = await stripe.customers.create({ name: 'Larch' });

  // The first attempt by bank debit bounces, and leaves an active subscription that nobody paid.
  const debit = await setup.checkout(customer);
  payment.payCheckout(debit.id, '33333335');
  payment.clock.advance({ days: 5 });
  const unpaid = (await stripe.checkout.sessions.retrieve(debit.id)).subscription as string;
  expect(await setup.statusOf(unpaid)).toBe('active');
  await stripe.subscriptions.cancel(unpaid);

  const session = await setup.checkout(customer);
  payment.payCheckout(session.id);
  const id = (await stripe.checkout.sessions.retrieve(session.id)).subscription as string;
  const newest = async () => (await stripe.invoices.list({ subscription: id })).data[0] as Stripe.Invoice;

  // A renewal fails and is paid on its page.
  payment.setCard(customer, declinesLater);
  payment.clock.advanceToPeriodEnd(id);
  expect(await setup.statusOf(id)).toBe('past_due');
  payment.payInvoice((await newest()).id as string);
  payment.setCard(customer, goodCard);
  expect(await setup.statusOf(id)).toBe('active');

  // An upgrade is invoiced at once; its payment is disputed, and the dispute won.
  const [item] = (await stripe.subscriptions.retrieve(id)).items.data;
  await stripe.subscriptions.update(id, {
    items: [{ id: item?.id as string, price: gold }],
    proration_behavior: 'always_invoice',
  });
  const upgrade = (await newest()).id as string;
  payment.warnOfFraud(upgrade);
  const dispute = payment.dispute(upgrade);
  payment.submitEvidence(dispute.id);
  payment.closeDispute(dispute.id, 'won');

  // A renewal is refunded in part, and the next one is written off.
  payment.clock.advanceToPeriodEnd(id);
  payment.refund((await newest()).id as string, { amount: 900 });
  payment.setCard(customer, declinesLater);
  payment.clock.advanceToPeriodEnd(id);
  await stripe.invoices.markUncollectible((await newest()).id as string);
  payment.setCard(customer, goodCard);
  expect(await setup.statusOf(id)).toBe('active');

  // A lower plan is scheduled and reached, collection pauses for a period, and a cancellation is undone.
  payment.scheduleChange(id, silver);
  payment.clock.advanceToPeriodEnd(id);
  expect((await stripe.subscriptions.retrieve(id)).items.data[0]?.price.id).toBe(silver);
  payment.releaseSchedule(id);
  payment.pauseCollection(id, 'void');
  payment.clock.advanceToPeriodEnd(id);
  payment.pauseCollection(id, null);
  await stripe.subscriptions.update(id, { cancel_at: 'min_period_end' });
  await stripe.subscriptions.update(id, { cancel_at: '' });
  for (let month = 0; month < 5; month += 1) payment.clock.advanceToPeriodEnd(id);
  await stripe.subscriptions.update(id, { cancel_at: 'min_period_end' });
  payment.clock.advanceToPeriodEnd(id);
  expect(await setup.statusOf(id)).toBe('canceled');

  const invoices = (await stripe.invoices.list({ customer, limit: 100 })).data;
  const counts = Map.groupBy(invoices, ({ status }) => status);
  expect(Object.fromEntries([...counts].map(([status, all]) => [status, all.length]))).toEqual({
    paid: 10,
    uncollectible: 1,
    void: 2,
  });
  const charges = (await stripe.charges.list({ customer, limit: 100 })).data;
  const paid = invoices.filter(({ status }) => status === 'paid').reduce((sum, one) => sum + one.amount_paid, 0);
  expect(charges.reduce((sum, { amount }) => sum + amount, 0)).toBe(paid);
  expect(charges.reduce((sum, { amount_refunded }) => sum + amount_refunded, 0)).toBe(900);
  expect(payment.clock.next()).toBeNull();
});
