import { startPaymentSandbox } from '@gatehouse/payment-sandbox';
import Stripe from 'stripe';
import { expect, test } from 'vitest';

test('the unmodified SDK talks to a sandbox that was started without options, and pays with a test card', async () => {
  const sandbox = await startPaymentSandbox();
  const stripe = new Stripe(sandbox.secretKey, sandbox.sdkOptions);
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: 'price_sandbox_silver_monthly', quantity: 1 }],
    success_url: 'http://localhost/paid',
  });
  expect(sandbox.payment.payCheckout(session.id, '4000000000000002')).toMatchObject({ paid: false });
  expect(sandbox.payment.payCheckout(session.id, '4242424242424242')).toMatchObject({ paid: true });

  sandbox.payment.clock.advanceToPeriodEnd();
  const paid = await stripe.invoices.list({ status: 'paid' });
  expect(paid.data.map(({ billing_reason }) => billing_reason)).toEqual(['subscription_cycle', 'subscription_create']);
  await sandbox.close();
});

test('a hosted page and the start page load their stylesheet from the sandbox', async () => {
  const sandbox = await startPaymentSandbox({ seeded: false });
  const page = await (await fetch(sandbox.url)).text();
  const [, stylesheet] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? [];
  const response = await fetch(`${sandbox.url}${stylesheet}`);
  expect(response.headers.get('content-type')).toContain('text/css');
  await sandbox.close();
});
