import fc from 'fast-check';
import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { daySeconds } from '../provider/clock.ts';
import { gold, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

function preview(subscription: string) {
  return setup.stripe.invoices.createPreview({ subscription });
}

test('a preview is what the renewal then invoices, and changes nothing', async () => {
  const { id, customer, items } = await setup.buy();
  const end = items.data[0]?.current_period_end as number;
  const before = setup.sandbox.payment.events().length;
  const next = await preview(id);
  expect(next).toMatchObject({ billing_reason: 'upcoming', status: 'draft', amount_due: 2400, period_end: end });
  expect(next.id).toMatch(/^upcoming_in_/);
  expect(next.lines.data[0]?.period.start).toBe(end);
  expect(setup.sandbox.payment.events()).toHaveLength(before);
  expect((await setup.stripe.invoices.list({ customer: customer as string })).data).toHaveLength(1);

  setup.sandbox.payment.clock.advanceToPeriodEnd(id);
  const [renewal] = (await setup.stripe.invoices.list({ customer: customer as string })).data;
  expect([renewal?.total, renewal?.lines.data[0]?.period]).toEqual([next.total, next.lines.data[0]?.period]);
});

test('a preview counts prorations that wait, credit, and the change of plan that a schedule makes', async () => {
  const { id, customer, items } = await setup.buy();
  await setup.stripe.customers.update(customer as string, { balance: -1000 });
  expect(await preview(id)).toMatchObject({ total: 2400, amount_due: 1400, ending_balance: 0 });

  const [item] = items.data;
  await setup.stripe.subscriptions.update(id, {
    items: [{ id: item?.id as string, price: gold }],
    proration_behavior: 'create_prorations',
  });
  const changed = await preview(id);
  expect(changed.lines.data.length).toBeGreaterThan(1);

  const schedule = await setup.stripe.subscriptionSchedules.create({ from_subscription: id });
  const [phase] = schedule.phases;
  await setup.stripe.subscriptionSchedules.update(schedule.id, {
    phases: [
      {
        start_date: phase?.start_date as number,
        end_date: phase?.end_date as number,
        items: [{ price: gold, quantity: 1 }],
      },
      { items: [{ price: silver, quantity: 1 }] },
    ],
  });
  const planned = await preview(id);
  expect(planned.lines.data.at(-1)?.pricing?.price_details?.price).toBe(silver);
});

test('there is no next invoice of a subscription that has ended or ends with its period', async () => {
  const { id } = await setup.buy();
  await setup.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  const none = { statusCode: 404, code: 'invoice_upcoming_none' };
  await expect(preview(id)).rejects.toMatchObject(none);
  await setup.stripe.subscriptions.cancel(id);
  await expect(preview(id)).rejects.toMatchObject(none);
  await expect(preview('sub_none')).rejects.toMatchObject({ code: 'resource_missing', param: 'subscription' });
});

test('the preview of invoices that are sent has a due date and no charge', async () => {
  const { id: customer } = await setup.stripe.customers.create({});
  const { id, items } = await setup.stripe.subscriptions.create({
    customer,
    items: [{ price: silver }],
    collection_method: 'send_invoice',
    days_until_due: 14,
  });
  const next = await preview(id);
  expect(next.next_payment_attempt).toBeNull();
  expect(next.due_date).toBe((items.data[0]?.current_period_end as number) + 14 * 86_400);
});

describe('the preview of changed items', () => {
  /** Makes the price of a tier for an interval. */
  async function priced(unit_amount: number, interval: 'month' | 'year', eur: number): Promise<string> {
    const price = await setup.stripe.prices.create({
      product: 'prod_sandbox_gold',
      currency: 'gbp',
      unit_amount,
      recurring: { interval },
      tax_behavior: 'exclusive',
      currency_options: { eur: { unit_amount: eur, tax_behavior: 'exclusive' } },
    });
    return price.id;
  }

  test('is the invoice that the change then makes, in every currency, with tax, discounts, credit and pending lines', async () => {
    setup.sandbox.payment.registerForTax('GB');
    const prices = await Promise.all([
      priced(2400, 'month', 2800),
      priced(7900, 'month', 9200),
      priced(24_000, 'year', 28_000),
      priced(79_000, 'year', 92_000),
    ]);
    const coupons = await Promise.all([
      setup.stripe.coupons.create({ percent_off: 25, duration: 'forever' }),
      setup.stripe.coupons.create({ amount_off: 500, currency: 'gbp', duration: 'once' }),
    ]);
    const index = fc.nat({ max: prices.length - 1 });
    await fc.assert(
      fc.asyncProperty(
        index,
        index,
        fc.record({
          seconds: fc.integer({ min: 1, max: 27 * daySeconds }),
          quantity: fc.integer({ min: 1, max: 3 }),
          tax: fc.boolean(),
          euros: fc.boolean(),
          coupon: fc.constantFrom(null, 0, 1),
          balance: fc.constantFrom(0, -1000, 500),
          pending: fc.boolean(),
        }),
        async (from, to, { seconds, quantity, tax, euros, coupon, balance, pending }) => {
          const { stripe } = setup;
          const start = Date.UTC(2027, 0, 31, 12) / 1000;
          const { id: test_clock } = await stripe.testHelpers.testClocks.create({ frozen_time: start });
          const customer = await stripe.customers.create({
            test_clock,
            address: { country: 'GB' },
          });
          const session = await stripe.checkout.sessions.create({
            mode: 'subscription',
            customer: customer.id,
            currency: euros ? 'eur' : 'gbp',
            line_items: [{ price: prices[from] as string, quantity }],
            automatic_tax: { enabled: tax },
            customer_update: { address: 'auto' },
            success_url: 'http://localhost:3000/billing',
          });
          expect(setup.sandbox.payment.payCheckout(session.id)).toMatchObject({ paid: true });
          const [bought] = (await stripe.subscriptions.list({ customer: customer.id })).data;
          const { id = '', items } = bought ?? {};
          const item = items?.data[0]?.id as string;
          const discounts =
            coupon === null || (euros && coupon === 1) ? [] : [{ coupon: coupons[coupon]?.id as string }];
          if (discounts.length > 0) await stripe.subscriptions.update(id, { discounts });
          await stripe.testHelpers.testClocks.advance(test_clock, { frozen_time: start + seconds });
          await stripe.customers.update(customer.id, { balance });
          if (pending) await stripe.subscriptions.update(id, { items: [{ id: item, quantity: quantity + 1 }] });

          const change = {
            items: [{ id: item, price: prices[to] as string }],
            proration_behavior: 'always_invoice' as const,
          };
          const preview = await stripe.invoices.createPreview({ subscription: id, subscription_details: change });
          const count = (await stripe.invoices.list({ subscription: id })).data.length;
          await stripe.subscriptions.update(id, change);
          const all = (await stripe.invoices.list({ subscription: id })).data;
          const isNow = all.length > count;
          expect(preview.billing_reason).toBe(isNow ? 'subscription_update' : 'upcoming');
          expect(isNow).toBe(from !== to);
          if (isNow) expect(sums(preview)).toEqual(sums(all[0]));
        },
      ),
      { numRuns: 25 },
    );
  });

  function sums(invoice: Stripe.Invoice | undefined) {
    return {
      currency: invoice?.currency,
      created: invoice?.created,
      total: invoice?.total,
      tax: invoice?.total_taxes,
      due: invoice?.amount_due,
      balance: [invoice?.starting_balance, invoice?.ending_balance],
      lines: invoice?.lines.data.map(({ amount, period }) => ({ amount, period })),
    };
  }

  test('in a trial is the invoice at its end, and the trial continues, also with another interval', async () => {
    const customer = await setup.stripe.customers.create({ payment_method: 'pm_card_visa' });
    const { id, items, trial_end } = await setup.stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: silver }],
      trial_period_days: 14,
    });
    const yearly = await priced(79_000, 'year', 92_000);
    const change = {
      items: [{ id: items.data[0]?.id as string, price: yearly }],
      proration_behavior: 'always_invoice' as const,
    };
    const preview = await setup.stripe.invoices.createPreview({ subscription: id, subscription_details: change });
    expect(preview).toMatchObject({ billing_reason: 'upcoming', created: trial_end, amount_due: 79_000 });
    const changed = await setup.stripe.subscriptions.update(id, change);
    expect(changed).toMatchObject({ status: 'trialing', trial_end });
    expect(changed.items.data[0]?.current_period_end).toBe(trial_end);
    setup.sandbox.payment.clock.advanceTo((trial_end as number) + 7200);
    const [first] = (await setup.stripe.invoices.list({ subscription: id })).data;
    expect([first?.total, first?.lines.data[0]?.period.start]).toEqual([preview.total, trial_end]);
  });

  test('refuses what the change would be refused', async () => {
    const { id, items } = await setup.buy();
    const of = (item: Stripe.InvoiceCreatePreviewParams.SubscriptionDetails.Item) =>
      setup.stripe.invoices.createPreview({ subscription: id, subscription_details: { items: [item] } });
    await expect(of({ id: 'si_none', price: gold })).rejects.toMatchObject({ code: 'resource_missing' });
    await expect(of({ id: items.data[0]?.id as string, price: 'price_none' })).rejects.toMatchObject({
      code: 'resource_missing',
    });
    await expect(of({ id: items.data[0]?.id as string, deleted: true })).rejects.toMatchObject({ statusCode: 400 });
  });
});
