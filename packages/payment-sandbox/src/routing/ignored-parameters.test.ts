import { expect, test } from 'vitest';
import { silver, useCheckedSandbox } from '../testing/checked-sandbox.ts';

const setup = useCheckedSandbox();

test('parameters that change what is billed are refused where the sandbox cannot follow them', async () => {
  const { stripe } = setup;
  const { id: customer } = await stripe.customers.create({ payment_method: 'pm_card_visa' });
  const items = [{ price: silver }];
  const wanted = { statusCode: 400, code: 'sandbox_unsupported' };
  const subscribe = (params: object) => stripe.subscriptions.create({ customer, items, ...params });
  await expect(subscribe({ automatic_tax: { enabled: true } })).rejects.toMatchObject(wanted);
  await expect(subscribe({ off_session: true })).rejects.toMatchObject(wanted);
  await expect(subscribe({ trial_from_plan: true })).rejects.toMatchObject(wanted);
  await expect(subscribe({ payment_settings: { payment_method_types: ['card'] } })).rejects.toMatchObject(wanted);
  await expect(stripe.customers.create({ tax: { validate_location: 'deferred' } })).rejects.toMatchObject(wanted);
  const { id } = await setup.buy();
  await expect(stripe.subscriptions.cancel(id, { prorate: true })).rejects.toMatchObject(wanted);
  expect((await stripe.subscriptions.retrieve(id)).status).toBe('active');
});

test('a trial that has ended already, or is given twice, is refused', async () => {
  const { id: customer } = await setup.stripe.customers.create({});
  const now = setup.sandbox.payment.clock.now();
  const trial = (params: { trial_end?: number; trial_period_days?: number }) =>
    setup.stripe.subscriptions.create({ customer, items: [{ price: silver }], ...params });
  await expect(trial({ trial_end: now - 60 })).rejects.toMatchObject({ param: 'trial_end' });
  await expect(trial({ trial_end: now + 60, trial_period_days: 2 })).rejects.toMatchObject({ statusCode: 400 });
});

test('what a customer is given is shown', async () => {
  const { id } = await setup.stripe.customers.create({ business_name: 'Larch Ltd', individual_name: 'A. Larch' });
  const updated = await setup.stripe.customers.update(id, {
    address: { line1: '1 High Street', country: 'GB' },
    individual_name: '',
    invoice_settings: { footer: 'Thank you.' },
  });
  expect(updated).toMatchObject({
    address: { line1: '1 High Street', line2: null, country: 'GB' },
    business_name: 'Larch Ltd',
    invoice_settings: { footer: 'Thank you.' },
  });
  expect(updated.individual_name).toBeUndefined();
  expect((await setup.stripe.customers.update(id, { address: '' })).address).toBeNull();
});
