import { expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { hourMilliseconds } from '../../platform/durations.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { applyMissed, applyUndelivered } from './apply-undelivered.ts';

const billing = useBillingTest({ emptiesProvider: true });
const later = (hours: number) => ({
  ...billing.app,
  now: () => new Date(Date.now() + hours * hourMilliseconds),
});

test('events of the time in which the endpoint was disabled are applied after the silence', async () => {
  const { payment } = billing.sandbox;
  const { principal, subscription } = await makeSubscriber(billing);
  const tier = async () => (await readPlan(billing.app, principal.organisationId)).tier;
  await applyMissed(billing.app);

  payment.disableWebhook(true);
  payment.forceStatus(subscription.id, 'canceled');
  payment.disableWebhook(false);
  await billing.settled();
  await applyUndelivered(billing.app);
  expect(await tier()).toBe('silver');

  expect(await applyMissed(later(0.5))).toBe(0);
  expect(await tier()).toBe('silver');
  expect(await applyMissed(later(2))).toBeGreaterThan(0);
  await billing.settled();
  expect(await tier()).toBe('free');
  expect(await applyMissed(later(4))).toBe(0);
});

test('an event that arrives after the silence does not hide those before it', async () => {
  const { payment } = billing.sandbox;
  const { principal, subscription } = await makeSubscriber(billing);
  await applyMissed(billing.app);
  payment.disableWebhook(true);
  payment.forceStatus(subscription.id, 'unpaid');
  payment.disableWebhook(false);
  payment.clock.advance({ hours: 3 });
  await makeSubscriber(billing);
  expect(await applyMissed(later(3))).toBeGreaterThan(0);
  await billing.settled();
  expect((await readPlan(billing.app, principal.organisationId)).subscription?.status).toBe('unpaid');
});
