import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSubscription } from '../../subscription/read-subscription.ts';
import { type BillingTest, makeMember, makeSubscriber, startBillingTest } from '../../testing/billing.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { syncSubscription } from '../sync/sync.ts';
import { readLapse } from './read-lapse.ts';

let billing: BillingTest;
beforeAll(async () => {
  billing = await startBillingTest();
});
afterAll(() => billing.close());

test('a scheduled end is told from when it has come until the provider confirms it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  expect(await readLapse(billing.app, principal)).toBeNull();
  const { ends_at } = await setCancellation(billing.app, principal, true);
  await billing.settled();
  expect(await readLapse(billing.app, principal)).toBeNull();

  billing.sandbox.payment.set({ drop_deliveries: true });
  const atEnd = { ...billing.app, now: () => new Date(ends_at ?? 0) };
  expect(await readLapse(atEnd, principal)).toBe(ends_at);
  expect((await readSubscription(atEnd, principal)).plan).toEqual({
    tier: 'free',
    name: 'Free',
    status: 'active',
    cancel_at_period_end: false,
    current_period_end: null,
    ends_at: null,
  });

  billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
  await syncSubscription(billing.app, subscription.id);
  expect(await readLapse(atEnd, principal)).toBeNull();
});

test('without a subscription there is none', async () => {
  expect(await readLapse(billing.app, await makeMember(billing, 'viewer'))).toBeNull();
});
