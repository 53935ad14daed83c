import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeSubscriber, priceOf } from '../../testing/billing.ts';
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

describe('a key that may not read schedules', () => {
  async function planned() {
    const made = await makeSubscriber(billing, 'gold');
    billing.sandbox.payment.set({ forbidden_expansion: 'schedule' });
    billing.sandbox.payment.scheduleChange(made.subscription.id, priceOf(billing, 'silver'));
    await billing.settled();
    return made;
  }

  test('still keeps the plan, by releasing the schedule', async () => {
    const { principal, subscription } = await planned();
    expect(subscription.schedule).not.toBeNull();
    expect(await setCancellation(billing.app, principal, { cancel: false })).toMatchObject({ tier: 'gold' });
    expect(subscription.schedule).toBeNull();
  });

  test.each([true, false])(
    'and may not change them gets one sentence (cancel: %s), and nothing changes',
    async (cancel) => {
      const { principal, subscription } = await planned();
      billing.sandbox.payment.failNext(403, { only: 'POST /v1/subscription_schedules' });
      await expect(setCancellation(billing.app, principal, { cancel })).rejects.toMatchObject({
        code: 'PROVIDER_UNAVAILABLE',
        message: 'A change of this plan is planned, and this service may not undo it. Ask its operator.',
      });
      expect(subscription).toMatchObject({ cancel_at: null, cancel_at_period_end: false });
      expect(subscription.schedule).not.toBeNull();
    },
  );
});
