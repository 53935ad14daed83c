import { expect, test } from 'vitest';
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
