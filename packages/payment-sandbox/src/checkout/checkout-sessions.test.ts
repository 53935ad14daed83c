import { expect, test } from 'vitest';
import { useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('an open checkout session expires after a day, or on request', async () => {
  const customer = await setup.stripe.customers.create({});
  const [one, two] = [await setup.checkout(customer.id), await setup.checkout(customer.id)];
  expect((await setup.stripe.checkout.sessions.list({ customer: customer.id, status: 'open' })).data).toHaveLength(2);
  expect((await setup.stripe.checkout.sessions.expire(one.id)).url).toBeNull();
  await expect(setup.stripe.checkout.sessions.expire(one.id)).rejects.toMatchObject({ message: /status of `expired`/ });
  setup.sandbox.payment.clock.advance({ days: 1 });
  expect((await setup.stripe.checkout.sessions.retrieve(two.id)).status).toBe('expired');
  expect(setup.sandbox.payment.payCheckout(two.id)).toMatchObject({ paid: false });
  expect(setup.sandbox.payment.events().filter(({ type }) => type === 'checkout.session.expired')).toHaveLength(2);
});

test('a second checkout creates a second subscription, as at the real provider', async () => {
  const bought = await setup.buy();
  const again = await setup.checkout(bought.customer as string);
  setup.sandbox.payment.payCheckout(again.url as string);
  expect((await setup.stripe.subscriptions.list({ customer: bought.customer as string })).data).toHaveLength(2);
});
