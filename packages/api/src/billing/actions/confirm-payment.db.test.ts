import { beforeEach, expect, test } from 'vitest';
import type { Payment } from '../../platform/providers/payment/connection.ts';
import { makeMember } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { confirmPayment } from './confirm-payment.ts';
import { startCheckout } from './start-checkout.ts';

const billing = useBillingTest();
beforeEach(() => {
  billing.sandbox.payment.resetSwitches();
  billing.sandbox.payment.set({ drop_deliveries: true });
});

async function checkout() {
  const principal = await makeMember(billing);
  return { principal, url: (await startCheckout(billing.app, principal, { tier: 'gold' })).url };
}

test('the return address itself grants nothing', async () => {
  const { principal } = await checkout();
  expect(await confirmPayment(billing.app, principal)).toEqual({ confirmed: false, tier: 'free' });
  expect(await confirmPayment(billing.app, await makeMember(billing))).toEqual({ confirmed: false, tier: 'free' });
});

test('with webhooks blocked the provider itself confirms the payment', async () => {
  const { principal, url } = await checkout();
  billing.sandbox.payment.payCheckout(url);
  expect(await confirmPayment(billing.app, principal)).toEqual({ confirmed: true, tier: 'gold' });
});

test('a provider that is slow or unreachable delays the page by at most three seconds', async () => {
  const { principal, url } = await checkout();
  billing.sandbox.payment.payCheckout(url);
  billing.sandbox.payment.set({ api_delay_ms: 4500 });
  // Its answer would confirm the payment.
  expect(await confirmPayment(billing.app, principal)).toEqual({ confirmed: false, tier: 'free' });
  await expect.poll(() => confirmPayment(billing.app, principal)).toEqual({ confirmed: true, tier: 'gold' });
});

test('concurrent reloads on two nodes ask the provider once and share the result', async () => {
  const { principal, url } = await checkout();
  billing.sandbox.payment.payCheckout(url);
  billing.sandbox.payment.set({ api_delay_ms: 300 });
  let asked = 0;
  const { payment } = billing.app;
  if (payment === null) throw new Error('Billing is off.');
  const counting: Payment['ask'] = (question) => {
    asked++;
    return payment.ask(question);
  };
  const nodes = [1, 2].map(() => ({ ...billing.app, payment: { ...payment, ask: counting } }));

  const reloads = Array.from({ length: 10 }, () => nodes).flat();
  const answers = await Promise.all(reloads.map((app) => confirmPayment(app, principal)));
  expect(asked).toBe(1);
  expect(answers).toEqual(reloads.map(() => ({ confirmed: true, tier: 'gold' })));
});

test('while another reload waits for a silent provider, no reload waits longer than three seconds', async () => {
  const { principal, url } = await checkout();
  billing.sandbox.payment.payCheckout(url);
  billing.sandbox.payment.set({ api_delay_ms: 4500 });
  // Its answer would confirm the payment.
  const answers = await Promise.all([1, 2, 3].map(() => confirmPayment(billing.app, principal)));
  expect(answers).toEqual(answers.map(() => ({ confirmed: false, tier: 'free' })));
  await expect.poll(() => confirmPayment(billing.app, principal)).toEqual({ confirmed: true, tier: 'gold' });
});

test('without billing nothing is confirmed', async () => {
  const principal = await makeMember(billing, 'viewer');
  expect(await confirmPayment({ ...billing.app, payment: null }, principal)).toEqual({
    confirmed: false,
    tier: 'free',
  });
});
