import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { declinesLater, gold, postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

/** Returns a past-due subscription and the open invoice of its renewal. */
async function pastDue() {
  const { id, customer } = await setup.buy();
  setup.sandbox.payment.setCard(customer as string, declinesLater);
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  expect(await setup.statusOf(id)).toBe('past_due');
  return { id, customer: customer as string, open: await newestOf(id) };
}

async function newestOf(subscription: string): Promise<string> {
  return (await setup.stripe.invoices.list({ subscription })).data[0]?.id as string;
}

describe('the status follows the newest invoice that is not void', () => {
  test('writing off a debt makes a past-due subscription active', async () => {
    const { id, open } = await pastDue();
    expect(await setup.stripe.invoices.markUncollectible(open)).toMatchObject({
      status: 'uncollectible',
      status_details: { uncollectible: { reason: 'user_forgiven' } },
      billing_reason: 'subscription_cycle',
    });
    expect(await setup.statusOf(id)).toBe('active');
  });

  test('an uncollectible invoice can be paid after all', async () => {
    const { id, open } = await pastDue();
    await setup.stripe.invoices.markUncollectible(open);
    expect(setup.sandbox.payment.payInvoice(open)).toBeNull();
    const paid = await setup.stripe.invoices.retrieve(open);
    expect([paid.status, paid.status_details]).toEqual(['paid', undefined]);
    expect(await setup.statusOf(id)).toBe('active');
  });

  test('voiding the open invoice leaves the paid one before it, so that the subscription is active', async () => {
    const { id, open } = await pastDue();
    await setup.stripe.invoices.voidInvoice(open);
    expect(await setup.statusOf(id)).toBe('active');
  });

  test('voiding a later invoice uncovers one that failed', async () => {
    setup.sandbox.payment.set({ dunning_end: 'past_due' });
    const { id, open } = await pastDue();
    setup.sandbox.payment.clock.advanceToPeriodEnd(id);
    const later = await newestOf(id);
    expect(later).not.toBe(open);
    await setup.stripe.invoices.markUncollectible(later);
    expect(await setup.statusOf(id)).toBe('active');
    await setup.stripe.invoices.voidInvoice(later);
    expect(await setup.statusOf(id)).toBe('past_due');
  });

  test('an older invoice of an unpaid subscription revives nothing, also when it is written off', async () => {
    setup.sandbox.payment.set({ dunning_end: 'unpaid' });
    const { id, open } = await pastDue();
    setup.sandbox.payment.clock.advance({ days: 40 });
    expect(await setup.statusOf(id)).toBe('unpaid');
    const draft = await newestOf(id);
    expect(await setup.stripe.invoices.retrieve(draft)).toMatchObject({ status: 'draft', auto_advance: false });
    await setup.stripe.invoices.markUncollectible(open);
    expect(await setup.statusOf(id)).toBe('unpaid');
    await setup.stripe.invoices.finalizeInvoice(draft);
    await setup.stripe.invoices.markUncollectible(draft);
    expect(await setup.statusOf(id)).toBe('unpaid');
    expect(setup.sandbox.payment.payInvoice(draft)).toBeNull();
    expect(await setup.statusOf(id)).toBe('active');
  });
});

test('every invoice says why it was made', async () => {
  const { id, items } = await setup.buy();
  await setup.stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]?.id as string, price: gold }],
    proration_behavior: 'always_invoice',
  });
  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  const reasons = (await setup.stripe.invoices.list({ subscription: id })).data.map((one) => one.billing_reason);
  expect(reasons).toEqual(['subscription_cycle', 'subscription_update', 'subscription_create']);
});

describe('a subscription whose invoices are sent', () => {
  async function sent(): Promise<Stripe.Subscription> {
    const { id: customer } = await setup.stripe.customers.create({});
    return setup.stripe.subscriptions.create({
      customer,
      items: [{ price: silver }],
      collection_method: 'send_invoice',
      days_until_due: 14,
    });
  }

  test('is active at once, and its invoice is sent an hour later', async () => {
    const { id, status, latest_invoice } = await sent();
    expect([status, (await setup.stripe.invoices.retrieve(latest_invoice as string)).status]).toEqual([
      'active',
      'draft',
    ]);
    setup.sandbox.payment.clock.advance({ hours: 1 });
    const invoice = await setup.stripe.invoices.retrieve(latest_invoice as string);
    expect(invoice).toMatchObject({ status: 'open', collection_method: 'send_invoice', next_payment_attempt: null });
    expect((invoice.due_date as number) - invoice.created).toBe(14 * 86_400);
    expect(setup.typesOf(invoice.id as string).at(-1)).toBe('invoice.sent');
    expect(await setup.statusOf(id)).toBe('active');
  });

  test('is past due from the due date, until the invoice is paid', async () => {
    const { id, latest_invoice } = await sent();
    setup.sandbox.payment.clock.advance({ days: 14 });
    expect(await setup.statusOf(id)).toBe('past_due');
    expect(setup.typesOf(latest_invoice as string).at(-1)).toBe('invoice.overdue');
    const { hosted_invoice_url: url } = await setup.stripe.invoices.retrieve(latest_invoice as string);
    expect((await postForm(url as string, { card: '4242424242424242' })).status).toBe(303);
    expect(await setup.statusOf(id)).toBe('active');
  });

  test('can be made from one that is charged, and back, and needs the days until the invoice is due', async () => {
    const { id } = await setup.buy();
    const update = (params: Stripe.SubscriptionUpdateParams) => setup.stripe.subscriptions.update(id, params);
    await expect(update({ days_until_due: 7 })).rejects.toMatchObject({ param: 'days_until_due' });
    await expect(update({ collection_method: 'send_invoice' })).rejects.toMatchObject({ code: 'parameter_missing' });
    expect(await update({ collection_method: 'send_invoice', days_until_due: 7 })).toMatchObject({
      collection_method: 'send_invoice',
      days_until_due: 7,
    });
    expect((await update({ collection_method: 'charge_automatically' })).days_until_due).toBeNull();
  });
});
