import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { hourMilliseconds } from '../../platform/durations.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import { billingJobs } from '../sync/jobs.ts';
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

  expect(await applyMissed(later(0.5))).toEqual({ applied: 0, wasSilent: false });
  expect(await tier()).toBe('silver');
  expect((await applyMissed(later(2))).applied).toBeGreaterThan(0);
  await billing.settled();
  expect(await tier()).toBe('free');
  expect((await applyMissed(later(4))).applied).toBe(0);
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
  expect((await applyMissed(later(3))).applied).toBeGreaterThan(0);
  await billing.settled();
  expect((await readPlan(billing.app, principal.organisationId)).subscription?.status).toBe('unpaid');
});

test('after a silence all rows are compared, also where no event was missing', async () => {
  const { payment } = billing.sandbox;
  const { principal, subscription } = await makeSubscriber(billing);
  const run = (hours: number) =>
    billingJobs({ app: billing.app, scheduled: later(hours) })['payment-undelivered'].handler({}, '');
  await run(0);
  // A row that is wrong, as after a backup was restored: no event tells it.
  await billing.app.db
    .update(paymentSubscriptions)
    .set({ status: 'past_due', stateAt: 0 })
    .where(eq(paymentSubscriptions.id, subscription.id));
  expect(await applyMissed(later(6))).toEqual({ applied: 0, wasSilent: true });
  expect((await readRow(billing.app.db, subscription.id))?.status).toBe('past_due');
  await run(6);
  expect((await readRow(billing.app.db, subscription.id))?.status).toBe('active');
  expect((await readPlan(billing.app, principal.organisationId)).subscription?.status).toBe('active');
  expect(payment.state().subscriptions[subscription.id]?.status).toBe('active');
});
