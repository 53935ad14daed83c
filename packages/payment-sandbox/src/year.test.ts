import type Stripe from 'stripe';
import { expect, test } from 'vitest';
import { declinesLater, gold, postForm, silver, useCheckedSandbox } from './testing/checked-sandbox.ts';

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
  const statuses = invoices.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(10).fill('paid'), 'uncollectible', 'void', 'void']);
  const charges = (await stripe.charges.list({ customer, limit: 100 })).data;
  const paid = invoices.filter(({ status }) => status === 'paid').reduce((sum, one) => sum + one.amount_paid, 0);
  expect(charges.reduce((sum, { amount }) => sum + amount, 0)).toBe(paid);
  expect(charges.reduce((sum, { amount_refunded }) => sum + amount_refunded, 0)).toBe(900);
  expect(payment.clock.next()).toBeNull();
});

test('more than a year in euros that begins with a trial and a code: plan and interval change in the trial, which continues', async () => {
  const { stripe } = setup;
  const { payment } = setup.sandbox;
  for (const [price, amount] of [
    [silver, 2800],
    [gold, 9200],
  ] as const)
    await stripe.prices.update(price, { currency_options: { eur: { unit_amount: amount } } });
  const { product } = await stripe.prices.retrieve(gold);
  const yearly = await stripe.prices.create({
    product: product as string,
    currency: 'gbp',
    unit_amount: 79_000,
    recurring: { interval: 'year' },
    currency_options: { eur: { unit_amount: 92_000 } },
  });
  const repeating = { percent_off: 25, duration: 'repeating', duration_in_months: 3 } as const;
  const promotion = { type: 'coupon' as const, coupon: (await stripe.coupons.create(repeating)).id };
  await stripe.promotionCodes.create({ promotion, code: 'SPRING' });

  const { id: customer } = await stripe.customers.create({ name: 'Larch' });
  const { url } = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    currency: 'eur',
    line_items: [{ price: silver, quantity: 1 }],
    allow_promotion_codes: true,
    subscription_data: { trial_period_days: 14 },
    success_url: 'http://localhost:3000/billing?checkout=success',
  });
  expect((await postForm(url as string, { card: goodCard, promotion_code: 'spring' })).status).toBe(303);
  const [begun] = (await stripe.subscriptions.list({ customer })).data;
  const id = begun?.id as string;
  const trialEnd = begun?.trial_end;

  // In the trial nothing is charged for another plan or interval, and its end stays.
  for (const price of [gold, yearly.id, gold]) {
    const [item] = (await stripe.subscriptions.retrieve(id)).items.data;
    const items = [{ id: item?.id as string, price }];
    const changed = await stripe.subscriptions.update(id, { items, proration_behavior: 'always_invoice' });
    expect(changed).toMatchObject({ status: 'trialing', currency: 'eur', trial_end: trialEnd });
  }
  payment.clock.advanceToPeriodEnd(id);
  expect(await setup.statusOf(id)).toBe('active');

  // The code ends after its months; then the plan is paid by the year.
  for (let month = 0; month < 3; month += 1) payment.clock.advanceToPeriodEnd(id);
  expect((await stripe.subscriptions.retrieve(id)).discounts).toEqual([]);
  const [item] = (await stripe.subscriptions.retrieve(id)).items.data;
  await stripe.subscriptions.update(id, {
    items: [{ id: item?.id as string, price: yearly.id }],
    proration_behavior: 'always_invoice',
  });
  payment.clock.advanceToPeriodEnd(id);
  await stripe.subscriptions.update(id, { cancel_at_period_end: true });
  payment.clock.advanceToPeriodEnd(id);
  expect(await setup.statusOf(id)).toBe('canceled');

  const invoices = (await stripe.invoices.list({ customer, limit: 100 })).data.toReversed();
  expect(new Set(invoices.map(({ currency }) => currency))).toEqual(new Set(['eur']));
  // The year takes the place of a month that was just paid: what of it is left depends on the length of the month.
  const upgrade = expect.toSatisfy((total: number) => total > 92_000 - 9200 && total < 92_000);
  expect(invoices.map(({ total }) => total)).toEqual([0, 6900, 6900, 6900, 9200, upgrade, 92_000]);
  const charges = (await stripe.charges.list({ customer, limit: 100 })).data;
  const paid = invoices.reduce((sum, { amount_paid }) => sum + amount_paid, 0);
  expect(charges.reduce((sum, { amount }) => sum + amount, 0)).toBe(paid);
});
