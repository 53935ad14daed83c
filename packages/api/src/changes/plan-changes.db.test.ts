import { expect, test } from 'vitest';
import { decideDuePlans } from '../billing/entitlement/decide-plan.ts';
import { defaultPlans } from '../billing/plans/default-plans.ts';
import { noSyncs } from '../billing/sync/sync-queue.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { type BillingTest, makeSubscriber } from '../testing/billing.ts';
import { deliver, makeEvent } from '../testing/payment/payment-events.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { changesInput, readChanges } from './read-changes.ts';

const billing = useBillingTest();

/** What the feed tells of an organisation's plan, in its order. */
async function plansTold({ app }: BillingTest, organisationId: string) {
  const input = changesInput.parse({ after: '0', limit: 1000 });
  const { changes } = await readChanges(app, { reads: 'organisation', organisationId }, input, {
    callerId: 'test',
    mayStillRead: async () => true,
  });
  return changes.filter(({ type }) => type === 'plan.changed').map(({ data }) => data);
}

test('a plan that an event, a sync or time alone changes is in the feed once, with its limits and features', async () => {
  const { app } = billing;
  const { principal, subscription } = await makeSubscriber(billing);
  const plans = () => plansTold(billing, principal.organisationId);
  const bought = await plans();
  const [free, silver] = defaultPlans.tiers.map(({ tier, limits, features }) => ({ tier, limits, features }));
  expect(bought.at(-1)).toEqual({ ...silver, status: 'active', ends_at: null });

  billing.sandbox.payment.forceStatus(subscription.id, 'past_due');
  await billing.settled();
  const after = { ...app, now: () => new Date(Date.now() + 8 * dayMilliseconds) };
  await decideDuePlans(app);
  await decideDuePlans(after);
  await decideDuePlans(after);
  expect((await plans()).slice(bought.length)).toEqual([
    { ...silver, status: 'past_due', ends_at: null },
    { ...free, status: 'past_due', ends_at: null },
  ]);
});

test('the end of a subscription that gives no plan is told when it is set, and when it has come', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const before = (await plansTold(billing, principal.organisationId)).length;
  const app = { ...billing.app, syncs: noSyncs };
  const created = Math.floor(app.now().getTime() / 1000) + 60;
  const unpaid = { ...subscription, status: 'unpaid', cancel_at: created + 86_400 };
  await deliver(app, makeEvent(app, 'customer.subscription.updated', unpaid, { created }));

  const later = { ...app, now: () => new Date((created + 86_401) * 1000) };
  await decideDuePlans(app);
  await decideDuePlans(later);
  await decideDuePlans(later);
  const ends_at = new Date(unpaid.cancel_at * 1000).toISOString();
  expect((await plansTold(billing, principal.organisationId)).slice(before)).toMatchObject([
    { tier: 'free', status: 'unpaid', ends_at },
    { tier: 'free', status: 'unpaid', ends_at: null },
  ]);
});
