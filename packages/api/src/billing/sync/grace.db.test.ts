import { expect, test } from 'vitest';
import { at, reportedSubscription } from '../../testing/payment/reported-subscription.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';

const billing = useBillingTest({ work: false });

test('the grace of a second failure counts from it if an event alone showed the recovery', async () => {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  await event('past_due');
  await answer('past_due');
  wait(100);
  await event('active');
  const failed = wait(20);
  // The event of the second failure was lost.
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(5);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test('the grace of a second failure counts from it if an answer alone showed the recovery', async () => {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  await event('past_due');
  await answer('past_due');
  wait(100);
  await answer('active');
  const failed = wait(700);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test('an event of an earlier failure that arrives during the next one does not move the start of its grace', async () => {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  await event('active');
  const earlier = wait(100);
  wait(100);
  // An answer alone showed the recovery, and the event of the first failure has not arrived.
  await answer('active');
  const failed = wait(700);
  await event('past_due', failed, { status: 'active' });
  await answer('past_due');
  await event('past_due', earlier, { status: 'active' });
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test.each([
  ['the start of an earlier failure', { status: 'active' }],
  ['another event of an earlier failure', null],
])('%s that arrives late does not move the start of a grace whose own event was lost', async (_, previous) => {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  await event('active');
  const earlier = wait(100);
  wait(100);
  await answer('active');
  const failed = wait(700);
  await answer('past_due');
  wait(1);
  await event('past_due', earlier, previous);
  await event('past_due', earlier + 60);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(12);
  await event('past_due');
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test('a late event from before the failure does not restart its grace if the event of the failure was lost', async () => {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  await event('trialing');
  const before = wait(100);
  const failed = wait(1);
  await answer('past_due');
  wait(60);
  await event('active', before, { status: 'trialing' });
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(12);
  await event('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

type Subscription = Awaited<ReturnType<typeof reportedSubscription>>;

test.each<[string, (subscription: Subscription) => unknown]>([
  ['the end of past due', ({ event }) => event('active', undefined, { status: 'past_due' })],
  [
    'the end of past due, and another event after it',
    async ({ event, wait }) => {
      await event('active', undefined, { status: 'past_due' });
      wait(1);
      await event('active');
    },
  ],
  ['no more than another status', ({ event }) => event('unpaid', undefined, { status: 'active' })],
])('a second failure has a grace of its own if events show %s', async (_, recover) => {
  const subscription = await reportedSubscription(billing);
  const { answer, wait, row } = subscription;
  await answer('past_due');
  wait(1);
  await recover(subscription);
  const failed = wait(100);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(12);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test.each([true, false])('a second failure counts from its event (recovery reported: %s)', async (reported) => {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  await event('past_due', undefined, { status: 'active' });
  await answer('past_due');
  wait(24);
  if (reported) await event('active', undefined, { status: 'past_due' });
  const failed = wait(144);
  await event('past_due', failed, { status: 'active' });
  wait(1);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});
