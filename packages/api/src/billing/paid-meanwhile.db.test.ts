import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import type { Ask } from '../platform/providers/payment/connection.ts';
import { makeSubscriber } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { type BillingApp, requirePayment } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';

const billing = useBillingTest();

/** Returns the App with a provider at which `act` runs right after subscriptions were listed. */
function afterTheList(act: () => Promise<unknown>): BillingApp {
  const payment = requirePayment(billing.app);
  let isDone = false;
  const ask: Ask = async (question) => {
    const answer = await payment.ask(question);
    if (!isDone && (answer as { url?: string } | null)?.url === '/v1/subscriptions') {
      isDone = true;
      await act();
    }
    return answer;
  };
  return { ...billing.app, payment: { ...payment, ask } };
}

test('cancel of an incomplete subscription that is paid meanwhile keeps the paid period', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { ask } = requirePayment(billing.app);
  const { state } = billing.sandbox.payment;
  await ask((api) => api.subscriptions.cancel(subscription.id));
  const gold = Object.values(state().prices).find(({ lookup_key }) => lookup_key === 'gold_monthly')?.id ?? '';
  const { id, latest_invoice } = await ask((api) =>
    api.subscriptions.create({
      customer: String(subscription.customer),
      items: [{ price: gold }],
      payment_behavior: 'default_incomplete',
    }),
  );
  const card = Object.values(state().payment_methods).find(({ customer }) => customer === subscription.customer)?.id;
  const app = afterTheList(() =>
    ask((api) => api.invoices.pay(String(latest_invoice), { payment_method: card ?? '' })),
  );

  expect(await setCancellation(app, principal, { cancel: true })).toMatchObject({
    tier: 'gold',
    status: 'active',
    cancel_at_period_end: true,
  });
  expect(state().subscriptions[id]).toMatchObject({ status: 'active', cancel_at_period_end: true });
});

test('cancel of a paused plan that is resumed meanwhile keeps the paid period', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.forceStatus(subscription.id, 'paused');
  subscription.status_details = {
    paused: {
      subscription: { type: 'final_payment_failure' },
      transitioned_at: subscription.items.data[0]?.current_period_end ?? 0,
      type: 'subscription',
    },
  };
  const app = afterTheList(async () => {
    billing.sandbox.payment.forceStatus(subscription.id, 'active');
    delete subscription.status_details;
  });
  expect(await setCancellation(app, principal, { cancel: true })).toMatchObject({
    status: 'active',
    cancel_at_period_end: true,
  });
});

test('another plan is chosen while an event brings the id of the subscription, and nothing else of it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { id, customer } = subscription;
  const { db } = billing.app;
  await db.delete(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  const owner = { organisationId: principal.organisationId, customerId: String(customer) };
  const app = afterTheList(() => db.insert(paymentSubscriptions).values({ id, ...owner, needsSync: true }));

  const { url } = await startCheckout(app, principal, { tier: 'gold' });
  expect(url).toContain('/pay/portal/');
  const [row] = await db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  expect(row).toMatchObject({ status: null, needsSync: true });
});
