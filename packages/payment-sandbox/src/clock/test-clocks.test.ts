import { expect, test } from 'vitest';
import { daySeconds } from '../provider/clock.ts';
import { silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('a test clock advances the time of its own customers only', async () => {
  const start = Math.floor(Date.now() / 1000);
  const clock = await setup.stripe.testHelpers.testClocks.create({ frozen_time: start });
  const customer = await setup.stripe.customers.create({ test_clock: clock.id, payment_method: 'pm_card_visa' });
  const [method] = (await setup.stripe.paymentMethods.list({ customer: customer.id })).data;
  const clocked = await setup.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    default_payment_method: method?.id as string,
  });
  const other = await setup.buy();
  const advancing = await setup.stripe.testHelpers.testClocks.advance(clock.id, {
    frozen_time: start + 32 * daySeconds,
  });
  expect(advancing.status).toBe('advancing');
  expect(await setup.stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({
    status: 'ready',
    frozen_time: start + 32 * daySeconds,
  });
  expect((await setup.stripe.invoices.list({ subscription: clocked.id })).data).toHaveLength(2);
  expect((await setup.stripe.invoices.list({ subscription: other.id })).data).toHaveLength(1);
  await expect(setup.stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: start })).rejects.toMatchObject({
    statusCode: 400,
  });
});

test('a subscription that starts on the 31st renews on the last day of shorter months', async () => {
  const clock = await setup.stripe.testHelpers.testClocks.create({ frozen_time: Date.UTC(2027, 0, 31, 12) / 1000 });
  const customer = await setup.stripe.customers.create({ test_clock: clock.id, payment_method: 'pm_card_visa' });
  const [method] = (await setup.stripe.paymentMethods.list({ customer: customer.id })).data;
  const { id } = await setup.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    default_payment_method: method?.id as string,
  });
  const ends: string[] = [];
  for (const month of [1, 2, 3]) {
    const { items } = await setup.stripe.subscriptions.retrieve(id);
    ends.push(new Date((items.data[0]?.current_period_end as number) * 1000).toISOString().slice(0, 10));
    await setup.stripe.testHelpers.testClocks.advance(clock.id, {
      frozen_time: Date.UTC(2027, month, 28, 13) / 1000 + 3 * daySeconds,
    });
  }
  expect(ends).toEqual(['2027-02-28', '2027-03-31', '2027-04-30']);
});
