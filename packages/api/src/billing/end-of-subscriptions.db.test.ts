import { describe, expect, test } from 'vitest';
import { makeIncomplete, makeSecond, makeSubscriber, ownedBy, priceOf } from '../testing/billing.ts';
import { subscriptionsOf } from '../testing/payment/subscriptions-of.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { startCheckout } from './actions/start-checkout.ts';

const billing = useBillingTest({ emptiesProvider: true });

const { ask, schedule, stateOf } = subscriptionsOf(billing);
const provider = () => billing.sandbox.payment;

async function add(kind: string, customer: unknown): Promise<void> {
  if (kind === 'incomplete') return void (await makeIncomplete(billing, customer, 'silver'));
  const { id } = await makeSecond(billing, customer, 'silver');
  if (kind === 'scheduled') await schedule(id);
  if (kind === 'paused') await ask()((api) => api.subscriptions.pause(id));
  if (kind === 'past_due' || kind === 'unpaid') provider().forceStatus(id, kind);
  if (kind === 'ending') await ask()((api) => api.subscriptions.update(id, { cancel_at: 'min_period_end' }));
}

describe('the end of an organisation', () => {
  test('ends what is paused, incomplete or managed by a schedule, and what a schedule would start later', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { customer } = subscription;
    for (const kind of ['incomplete', 'scheduled', 'paused', 'unpaid']) await add(kind, customer);
    const planned = await ask()((api) =>
      api.subscriptionSchedules.create({
        customer: String(customer),
        start_date: provider().clock.now() + 86_400,
        phases: [{ items: [{ price: priceOf(billing, 'gold') }] }],
      }),
    );
    await endSubscriptions(billing.app, principal.organisationId);
    provider().clock.advance({ days: 40 });
    const { subscriptions } = ownedBy(billing, principal);
    expect(subscriptions.map(({ status }) => status)).toEqual(Array(5).fill('canceled'));
    expect(provider().state().subscription_schedules[planned.id]?.status).toBe('canceled');
  });

  test('that one failure delays ends all others immediately', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    provider().failNext(400, { count: 1, only: `DELETE /v1/subscriptions/${second.id}` });
    await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
    });
    expect(stateOf(subscription.id)?.status).toBe('canceled');
    await endSubscriptions(billing.app, principal.organisationId);
    expect(stateOf(second.id)?.status).toBe('canceled');
  });

  test('that one planned start delays cancels the other planned ones', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const plan = () =>
      ask()((api) =>
        api.subscriptionSchedules.create({
          customer: String(subscription.customer),
          start_date: provider().clock.now() + 86_400,
          phases: [{ items: [{ price: priceOf(billing, 'gold') }] }],
        }),
      );
    const planned = [await plan(), await plan()];
    provider().failNext(400, { count: 1, only: 'POST /v1/subscription_schedules/' });
    await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toThrow();
    const statuses = planned.map(({ id }) => provider().state().subscription_schedules[id]?.status);
    expect(statuses.toSorted()).toEqual(['canceled', 'not_started']);
  });

  test('is refused without a key while a checkout may still be paid', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptions.cancel(subscription.id));
    await billing.settled();
    await startCheckout(billing.app, principal, { tier: 'gold' });
    const off = { ...billing.app, payment: null };
    await expect(endSubscriptions(off, principal.organisationId)).rejects.toMatchObject({
      code: 'BILLING_UNAVAILABLE',
    });
    const tomorrow = new Date(billing.app.now().getTime() + 25 * 3_600_000);
    await endSubscriptions({ ...off, now: () => tomorrow }, principal.organisationId);
  });
});
