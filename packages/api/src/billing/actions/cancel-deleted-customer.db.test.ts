import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Administrator } from '../../auth/principal.ts';
import { paymentCustomers, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeSubscriber, ownedBy } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readSubscription } from '../summary/read-subscription.ts';
import { requirePayment } from './require-payment.ts';
import { setCancellation } from './set-cancellation.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;
const cancel = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: true });
const resume = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: false });
const plan = async (principal: Administrator) => (await readSubscription(billing.app, principal)).plan;

async function row(id: string) {
  const [found] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return found;
}

describe('cancel and resume of a plan whose customer', () => {
  const lost = (customer: unknown) => requirePayment(billing.app).ask((api) => api.customers.del(String(customer)));
  const ended = { code: 'VALIDATION', message: 'The paid plan has already ended.' };
  const none = { code: 'VALIDATION', message: 'There is no paid plan.' };

  test('was deleted report that it has ended', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await lost(subscription.customer);
    await billing.settled();
    await expect(resume(principal)).rejects.toMatchObject(ended);
    await expect(cancel(principal)).rejects.toMatchObject(none);
  });

  test.each([
    ['resume', resume, ended],
    ['cancel', cancel, none],
  ] as const)('was deleted, and whose end no event reported: %s updates the record', async (_, act, refusal) => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    await lost(subscription.customer);
    await billing.app.db
      .update(paymentCustomers)
      .set({ goneAt: billing.app.now() })
      .where(eq(paymentCustomers.customerId, String(subscription.customer)));

    await expect(act(principal)).rejects.toMatchObject(refusal);
    expect(await plan(principal)).toMatchObject({ tier: 'free', status: 'canceled' });
  });

  test('is reported as deleted: the provider is asked about the plan', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    await lost(subscription.customer);
    const deletion = provider()
      .events()
      .findLast(({ type }) => type === 'customer.deleted');
    provider().deliveries.resendEvent(deletion?.id ?? '');
    await billing.settled();
    expect(await plan(principal)).toMatchObject({ tier: 'free', status: 'canceled' });
  });

  test('is unknown to the provider, as with a wrong key: nothing ends, and the error refers to the operator', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { customers, subscriptions } = provider().state();
    delete customers[String(subscription.customer)];
    delete subscriptions[subscription.id];

    for (const act of [cancel, resume]) {
      await expect(act(principal)).rejects.toMatchObject({
        code: 'PROVIDER_UNAVAILABLE',
        message: 'The payment provider does not know this plan. Ask the operator of this service.',
      });
    }
    expect(await plan(principal)).toMatchObject({ tier: 'silver', status: 'active' });
    expect(await row(subscription.id)).toMatchObject({ problem: 'unknown_to_provider', needsSync: false });
  });

  test('is marked deleted but whose plan is live: the plan is changed', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await billing.app.db
      .update(paymentCustomers)
      .set({ goneAt: billing.app.now() })
      .where(eq(paymentCustomers.customerId, String(subscription.customer)));
    expect(await cancel(principal)).toMatchObject({ tier: 'silver', cancel_at_period_end: true });
    expect(ownedBy(billing, principal).subscriptions[0]?.cancel_at_period_end).toBe(true);
  });
});
