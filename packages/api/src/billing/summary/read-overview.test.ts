import { expect, test } from 'vitest';
import { makePrincipal, requireScope } from '../../auth/principal.ts';
import { makeMember, makeSubscriber } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { setCancellation } from '../actions/set-cancellation.ts';
import { syncSubscription } from '../sync/sync.ts';
import { readOverview, readSubscription } from './read-subscription.ts';

const billing = useBillingTest();

test('the overview is the summary with the end that is not confirmed, the kind of period of each counter, and the notice', async () => {
  const { principal } = await makeSubscriber(billing);
  const meters = billing.app.plans.meters.map((meter) => ({ ...meter, resets: 'subscription_period' as const }));
  const app = { ...billing.app, plans: { ...billing.app.plans, meters } };
  const summary = await readSubscription(app, principal);
  const resets = { members: null, projects: null, api_calls: 'subscription_period' };
  expect(await readOverview(app, principal)).toEqual({
    ...summary,
    plan: { ...summary.plan, ended_unconfirmed_at: null },
    usage: summary.usage.map((reading) => ({ ...reading, resets: resets[reading.meter as keyof typeof resets] })),
    notice: null,
  });
});

test('a scheduled end is unconfirmed from its time until the provider reports it', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  const { ends_at } = await setCancellation(billing.app, principal, { cancel: true });
  await billing.settled();
  expect((await readOverview(billing.app, principal)).plan).toMatchObject({ ends_at, ended_unconfirmed_at: null });

  billing.sandbox.payment.set({ drop_deliveries: true });
  const atEnd = { ...billing.app, now: () => new Date(ends_at ?? 0) };
  expect((await readOverview(atEnd, principal)).plan).toEqual({
    tier: 'free',
    name: 'Free',
    status: 'active',
    cancel_at_period_end: false,
    current_period_end: null,
    ends_at: null,
    ended_unconfirmed_at: ends_at,
  });

  billing.sandbox.payment.forceStatus(subscription.id, 'canceled');
  await syncSubscription(billing.app, subscription.id);
  expect((await readOverview(atEnd, principal)).plan).toMatchObject({ status: 'canceled', ended_unconfirmed_at: null });
});

test('without a subscription no end is unconfirmed', async () => {
  const principal = await makeMember(billing, 'viewer');
  expect((await readOverview(billing.app, principal)).plan.ended_unconfirmed_at).toBeNull();
});

test('only administrators receive the notice, and no user does while billing is off', async () => {
  const { principal, subscription } = await makeSubscriber(billing);
  billing.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();

  expect((await readOverview(billing.app, principal)).notice).toEqual({
    kind: 'payment_failed',
    invoice_url: expect.stringContaining('/pay/invoice/'),
    grace_ends_at: expect.any(String),
  });
  const member = requireScope(makePrincipal({ ...principal, role: 'member' }), 'READ');
  expect((await readOverview(billing.app, member)).notice).toBeNull();
  expect((await readOverview({ ...billing.app, payment: null }, principal)).notice).toBeNull();
});
