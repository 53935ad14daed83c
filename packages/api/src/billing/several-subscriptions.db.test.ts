import { describe, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { makeIncomplete, makeSecond, makeSubscriber } from '../testing/billing.ts';
import { interrupted } from '../testing/payment/interrupted.ts';
import { subscriptionsOf } from '../testing/payment/subscriptions-of.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { setCancellation } from './actions/set-cancellation.ts';

const billing = useBillingTest({ emptiesProvider: true });

const { ask, rowOf, schedule, stateOf } = subscriptionsOf(billing);
const provider = () => billing.sandbox.payment;
const cancel = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: true });
const resume = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: false });

describe('cancel', () => {
  test('ends an incomplete subscription, which cannot be updated, and schedules the end of the paid one', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await makeIncomplete(billing, subscription.customer);
    expect(await cancel(principal)).toMatchObject({ tier: 'silver', status: 'active', cancel_at_period_end: true });
    expect(stateOf(id)?.status).toBe('canceled');
    expect(await rowOf(id)).toMatchObject({ status: 'canceled', ended: true });
  });

  test('of an incomplete subscription alone answers with its end', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptions.cancel(subscription.id));
    await makeIncomplete(billing, subscription.customer);
    const ended = { status: 'canceled', cancel_at_period_end: false, ends_at: null, current_period_end: null };
    expect(await cancel(principal)).toMatchObject(ended);
    await expect(cancel(principal)).rejects.toThrow('There is no paid plan.');
  });

  test('of a subscription that a schedule manages releases the schedule first', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await schedule(subscription.id);
    expect(await cancel(principal)).toMatchObject({ tier: 'silver', cancel_at_period_end: true });
    expect(provider().state().subscription_schedules[id]?.status).toBe('released');
    expect(await resume(principal)).toMatchObject({ cancel_at_period_end: false });
  });

  test('asks for nothing where a schedule ends the plan with its period already', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await schedule(subscription.id);
    await ask()((api) => api.subscriptionSchedules.update(id, { end_behavior: 'cancel' }));
    expect(await cancel(principal)).toMatchObject({ cancel_at_period_end: true });
    expect(provider().state().subscription_schedules[id]?.status).toBe('active');
  });

  test('of a plan that is set to end some periods later moves the end forward to that of the paid period', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const end = subscription.items.data[0]?.current_period_end ?? 0;
    await ask()((api) => api.subscriptions.update(subscription.id, { cancel_at: end + 90 * 86_400 }));
    expect(await cancel(principal)).toMatchObject({
      cancel_at_period_end: true,
      ends_at: new Date(end * 1000).toISOString(),
    });
  });

  test('of a plan that was paused after its period ends it immediately', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().forceStatus(subscription.id, 'paused');
    subscription.status_details = {
      paused: {
        subscription: { type: 'trial_end_without_payment_method' },
        transitioned_at: subscription.items.data[0]?.current_period_end ?? 0,
        type: 'subscription',
      },
    };
    expect(await cancel(principal)).toMatchObject({ status: 'canceled', cancel_at_period_end: false });
    expect(stateOf(subscription.id)?.status).toBe('canceled');
  });

  test('of a plan that was paused within its period schedules its end, and resume removes it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptions.pause(subscription.id));
    expect(await cancel(principal)).toMatchObject({ status: 'paused', cancel_at_period_end: true });
    expect(await resume(principal)).toMatchObject({ status: 'paused', cancel_at_period_end: false });
    expect(stateOf(subscription.id)?.status).toBe('paused');
  });

  test('of one that ended meanwhile succeeds', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    // The first answer is the list of the subscriptions.
    const app = interrupted(billing.app, 1, () => provider().forceStatus(second.id, 'canceled'));
    const answer = await setCancellation(app, principal, { cancel: true });
    expect(answer).toMatchObject({ tier: 'silver', cancel_at_period_end: true });
  });
});

describe('resume', () => {
  test('of a plan that a schedule ends releases the schedule, and the plan continues', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await schedule(subscription.id);
    await ask()((api) => api.subscriptionSchedules.update(id, { end_behavior: 'cancel' }));
    expect(await resume(principal)).toMatchObject({ cancel_at_period_end: false, ends_at: null });
    expect(stateOf(subscription.id)).toMatchObject({ cancel_at: null, schedule: null });
  });

  test('removes the ends of several, each in its own form, and does not change an incomplete one', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const incomplete = await makeIncomplete(billing, subscription.customer);
    await ask()((api) => api.subscriptions.update(subscription.id, { cancel_at: 'min_period_end' }));
    await ask()((api) => api.subscriptions.update(second.id, { cancel_at_period_end: true }));
    expect(await resume(principal)).toMatchObject({ tier: 'gold', cancel_at_period_end: false });
    for (const { id } of [subscription, second]) expect(stateOf(id)?.cancel_at).toBeNull();
    expect(stateOf(incomplete.id)?.status).toBe('incomplete');
  });
});
