import { expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { hourMilliseconds } from '../../platform/durations.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { applyMissed } from './apply-undelivered.ts';

const billing = useBillingTest({ emptiesProvider: true });
const later = (hours: number) => ({ ...billing.app, now: () => new Date(Date.now() + hours * hourMilliseconds) });

test('a missed event that could not be applied is listed again by the next run', async () => {
  const { payment } = billing.sandbox;
  // The provider's events of its beginning are older than those of the subscriptions.
  payment.clock.advance({ hours: 1 });
  const [lost, other] = [await makeSubscriber(billing), await makeSubscriber(billing)];
  await applyMissed(billing.app);
  payment.disableWebhook(true);
  payment.forceStatus(lost.subscription.id, 'unpaid');
  payment.clock.advance({ hours: 2 });
  payment.forceStatus(other.subscription.id, 'unpaid');
  payment.disableWebhook(false);

  const { db, log } = billing.app;
  const transaction = (run: (tx: Transaction) => Promise<{ toSync?: string }>) =>
    db.transaction(async (tx) => {
      const result = await run(tx);
      if (result.toSync === lost.subscription.id) throw new Error('The connection is lost.');
      return result;
    });
  const failing = Object.create(db, { transaction: { value: transaction } });
  await applyMissed({ ...later(5), db: failing, log: { ...log, error: () => {} } });
  await billing.settled();
  const status = async ({ principal }: typeof lost) =>
    (await readPlan(billing.app, principal.organisationId)).subscription?.status;
  expect([await status(lost), await status(other)]).toEqual(['active', 'unpaid']);
  await applyMissed(later(5.1));
  await billing.settled();
  expect(await status(lost)).toBe('unpaid');
});
