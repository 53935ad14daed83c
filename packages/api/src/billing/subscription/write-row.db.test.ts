import { and, eq, inArray } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { syncSubscription } from '../sync/sync.ts';
import { planEntryOf } from './write-row.ts';

const none = { status: null, tier: null, ended: false };
const silver = { status: 'active', tier: 'silver', ended: false };

it.each([
  ['a first payment', none, silver, { action: 'subscription-started', tier: 'silver' }],
  [
    'a first payment after a wait',
    { ...silver, status: 'incomplete' },
    silver,
    { action: 'subscription-started', tier: 'silver' },
  ],
  ['a wait for the first payment', none, { ...silver, status: 'incomplete' }, null],
  ['nothing new', silver, silver, null],
  ['another tier', silver, { ...silver, tier: 'gold' }, { action: 'subscription-changed', from: 'silver', to: 'gold' }],
  ['a failed payment', silver, { ...silver, status: 'past_due' }, { action: 'payment-failed', tier: 'silver' }],
  ['a payment that stays failed', { ...silver, status: 'past_due' }, { ...silver, status: 'past_due' }, null],
  ['a payment after all', { ...silver, status: 'past_due' }, silver, null],
  ['an end', silver, { ...silver, status: 'canceled', ended: true }, { action: 'subscription-ended', tier: 'silver' }],
  [
    'an end that was known',
    { ...silver, status: 'canceled', ended: true },
    { ...silver, status: 'canceled', ended: true },
    null,
  ],
  [
    'a first payment that never came',
    { ...silver, status: 'incomplete' },
    { ...silver, status: 'incomplete_expired', ended: true },
    null,
  ],
  ['a price of no tier', none, { ...silver, tier: null }, null],
])('%s', (_, before, after, entry) => {
  expect(planEntryOf(before, after)).toEqual(entry);
});

const test = useBillingTest();

it('records the start and the end of a plan once, however often it is synced', async () => {
  const { principal, subscription } = await makeSubscriber(test);
  await syncSubscription(test.app, subscription.id);
  await syncSubscription(test.app, subscription.id);
  await test.app.payment?.ask((provider) => provider.subscriptions.cancel(subscription.id));
  await test.settled();
  await syncSubscription(test.app, subscription.id);

  const recorded = await test.app.db
    .select({ action: auditEvents.action, details: auditEvents.details, actorId: auditEvents.actorId })
    .from(auditEvents)
    .where(
      and(
        eq(auditEvents.organisationId, principal.organisationId ?? ''),
        inArray(auditEvents.action, ['subscription-started', 'subscription-changed', 'subscription-ended']),
      ),
    )
    .orderBy(auditEvents.at);
  expect(recorded).toEqual([
    { action: 'subscription-started', details: { plan: 'Silver' }, actorId: null },
    { action: 'subscription-ended', details: { plan: 'Silver' }, actorId: null },
  ]);
});
