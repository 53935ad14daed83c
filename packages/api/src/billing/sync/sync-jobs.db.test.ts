import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';

const billing = useBillingTest();

async function rowOf(id: string) {
  const { status, needsSync } = paymentSubscriptions;
  const [row] = await billing.app.db
    .select({ status, needsSync })
    .from(paymentSubscriptions)
    .where(eq(paymentSubscriptions.id, id));
  return row;
}

async function runJob(subscriptionId: string): Promise<void> {
  const { app } = billing;
  await app.db.transaction((tx) => app.jobs.send(tx, 'payment-sync', { subscriptionId }, { key: subscriptionId }));
  await billing.settled();
}

it('a job asks the provider about a subscription that is marked, and not about one that was settled meanwhile', async () => {
  const { subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.set({ drop_deliveries: true });
  billing.sandbox.payment.forceStatus(subscription.id, 'unpaid');
  await runJob(subscription.id);
  expect(await rowOf(subscription.id)).toEqual({ status: 'active', needsSync: false });

  await billing.app.db
    .update(paymentSubscriptions)
    .set({ needsSync: true })
    .where(eq(paymentSubscriptions.id, subscription.id));
  await runJob(subscription.id);
  expect(await rowOf(subscription.id)).toEqual({ status: 'unpaid', needsSync: false });
});
