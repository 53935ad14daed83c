import { expect, test } from 'vitest';
import { decideDuePlans } from '../billing/entitlement/decide-plan.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { makeSubscriber } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { changesInput, readChanges } from './read-changes.ts';

const billing = useBillingTest();

test('a plan that an event, a sync or time alone changes is in the feed once', async () => {
  const { app } = billing;
  const { principal, subscription } = await makeSubscriber(billing);
  const { organisationId } = principal;
  const plans = async () => {
    const input = changesInput.parse({ after: '0' });
    const { changes } = await readChanges(app, { reads: 'organisation', organisationId }, input, {
      callerId: 'test',
      mayStillRead: async () => true,
    });
    return changes.filter(({ type }) => type === 'plan.changed').map(({ data }) => data);
  };
  const bought = await plans();
  expect(bought.at(-1)).toEqual({ tier: 'silver', status: 'active', ends_at: null });

  billing.sandbox.payment.forceStatus(subscription.id, 'past_due');
  await billing.settled();
  const after = { ...app, now: () => new Date(Date.now() + 8 * dayMilliseconds) };
  await decideDuePlans(app);
  await decideDuePlans(after);
  await decideDuePlans(after);
  expect((await plans()).slice(bought.length)).toEqual([
    { tier: 'silver', status: 'past_due', ends_at: null },
    { tier: 'free', status: 'past_due', ends_at: null },
  ]);
});
