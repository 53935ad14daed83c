import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { syncSubscription } from './sync.ts';

const billing = useBillingTest();

test.each(['default_payment_method', 'schedule', 'customer'])(
  'a key that may not read %s still reads and changes what decides the plan',
  async (path) => {
    const { principal, subscription } = await makeSubscriber(billing);
    billing.sandbox.payment.set({ forbidden_expansion: path, drop_deliveries: true });
    billing.sandbox.payment.forceStatus(subscription.id, 'unpaid');
    await syncSubscription(billing.app, subscription.id);
    expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('free');

    billing.sandbox.payment.forceStatus(subscription.id, 'active');
    const set = await setCancellation(billing.app, principal, { cancel: true });
    expect(set).toMatchObject({ tier: 'silver', cancel_at_period_end: true });
    const [row] = await billing.app.db
      .select()
      .from(paymentSubscriptions)
      .where(eq(paymentSubscriptions.id, subscription.id));
    expect(row).toMatchObject({ status: 'active', needsSync: false, problem: null });
  },
);
