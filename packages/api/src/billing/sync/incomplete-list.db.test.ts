import { expect, test } from 'vitest';
import type { App } from '../../app.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { applyUndelivered } from '../events/apply-undelivered.ts';
import { compareAll } from './reconcile.ts';
import { startRound } from './sync-round.ts';

const billing = useBillingTest();

/** An App whose provider answers an empty page, which it does not call the last one. */
function withIncompleteLists(): App {
  const payment = requirePayment(billing.app);
  const list = async () => ({ data: [], has_more: true });
  const ask: Ask = (work) =>
    payment.ask((api) => work(Object.assign(Object.create(api), { subscriptions: { list }, events: { list } })));
  return { ...billing.app, payment: { ...payment, ask } };
}

test('a comparison by an incomplete list is an error, and does not take subscriptions for unlisted ones', async () => {
  await makeSubscriber(billing);
  const app = withIncompleteLists();
  const asked: string[] = [];
  const sync = async ({ id }: { id: string }) => void asked.push(id);
  await expect(compareAll(app, { ...startRound(app), sync })).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  expect(asked).toEqual([]);
});

test('an incomplete list of undelivered events is an error', async () => {
  await expect(applyUndelivered(withIncompleteLists())).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
});
