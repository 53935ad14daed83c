import { expect, test } from 'vitest';
import { postForm, silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('a trial starts without a card where none is required, and is paused at its end', async () => {
  const { id: customer } = await setup.stripe.customers.create({});
  const { url } = await setup.stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: silver, quantity: 1 }],
    success_url: 'http://localhost:3000/billing?checkout=success',
    payment_method_collection: 'if_required',
    subscription_data: {
      trial_period_days: 14,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    },
  });
  expect((await postForm(url as string, { without_card: '1' })).status).toBe(303);
  const { data } = await setup.stripe.subscriptions.list({ customer });
  expect(data).toMatchObject([{ status: 'trialing', default_payment_method: null }]);
  setup.sandbox.payment.clock.advance({ days: 15 });
  expect(await setup.statusOf(data[0]?.id ?? '')).toBe('paused');
});
