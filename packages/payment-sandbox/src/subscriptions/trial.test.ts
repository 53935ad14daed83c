import { expect, test } from 'vitest';
import { silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('a trial announces its end and pauses without a card; resuming it charges the card', async () => {
  const customer = await setup.stripe.customers.create({});
  const trial = await setup.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: silver }],
    trial_period_days: 14,
    trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
  });
  expect(trial.status).toBe('trialing');
  setup.sandbox.payment.clock.advance({ days: 11, seconds: 1 });
  expect(setup.typesOf(trial.id)).toContain('customer.subscription.trial_will_end');
  setup.sandbox.payment.clock.advance({ days: 3 });
  expect(await setup.statusOf(trial.id)).toBe('paused');
  setup.sandbox.payment.setCard(customer.id, '4242424242424242');
  expect((await setup.stripe.subscriptions.retrieve(trial.id)).status_details?.paused.subscription.type).toBe(
    'trial_end_without_payment_method',
  );
  const resumed = await setup.stripe.subscriptions.resume(trial.id, { payment_behavior: 'resume_on_payment_success' });
  expect(resumed.status).toBe('active');
  expect(setup.typesOf(trial.id)).toEqual(
    expect.arrayContaining(['customer.subscription.paused', 'customer.subscription.resumed']),
  );
});
