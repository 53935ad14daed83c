import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BillingTest, makeMember, makeSubscriber, startBillingTest } from '../testing/billing.ts';
import { callerFor } from '../testing/factories.ts';
import { readEventChange } from './events/event-change.ts';

let running: BillingTest;
let operators: ReturnType<typeof callerFor>['operators'];

beforeAll(async () => {
  running = await startBillingTest();
  const principal = await makeMember(running);
  operators = callerFor(running, {
    ...principal,
    operates: true,
    user: { ...principal.user, operator: true },
  }).operators;
});

afterAll(() => running.close());

describe('an organisation’s history', () => {
  test('lists the provider’s events and the actions of users, newest first', async () => {
    const { principal, subscription } = await makeSubscriber(running);
    await callerFor(running, principal).billing.cancel();
    await running.settled();

    const history = await operators.billingHistory({ organisation_id: principal.organisationId });
    expect(history.subscriptions).toMatchObject([{ id: subscription.id, plan: 'Silver', status: 'active' }]);
    const types = history.moments.map(({ type }) => type);
    expect(types).toContain('plan-checkout');
    expect(types).toContain('plan-cancelled');
    expect(history.moments.find(({ type }) => type === 'customer.subscription.updated')?.change).toMatchObject({
      status: 'active',
      end: { change: 'scheduled', at: expect.stringMatching(/^\d{4}-/) },
    });
    const times = history.moments.map(({ at }) => at);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('continues where a page ended', async () => {
    const { principal, subscription } = await makeSubscriber(running);
    for (let made = 0; made < 60; made++) {
      running.sandbox.payment.emit('charge.refunded', { id: `ch_${made}`, customer: subscription.customer });
    }
    await running.settled();

    const first = await operators.billingHistory({ organisation_id: principal.organisationId });
    const second = await operators.billingHistory({
      organisation_id: principal.organisationId,
      before: first.next ?? '',
    });
    const keys = [...first.moments, ...second.moments].map(({ key }) => key);
    expect(first.moments).toHaveLength(50);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThan(60);
    expect(second.next).toBeNull();
  });

  test('of an unknown organisation is refused', async () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    await expect(operators.billingHistory({ organisation_id: nobody })).rejects.toMatchObject({
      cause: { code: 'NOT_FOUND' },
    });
  });
});

describe('what an event changed', () => {
  test.each([
    [
      'invoice.created',
      { amount_due: 2400, currency: 'gbp' },
      { kind: 'invoice', amount_due: 2400, amount_paid: null, currency: 'gbp' },
    ],
    [
      'invoice.paid',
      { status: 'paid', amount_due: 2400, amount_paid: 2000, currency: 'gbp' },
      { kind: 'invoice', amount_due: 2400, amount_paid: 2000, currency: 'gbp' },
    ],
    ['invoice.paid', { amount_due: 'much', currency: 'gbp' }, null],
    ['invoice.paid', { amount_due: 1, currency: 'nothing' }, null],
    [
      'charge.refunded',
      { amount: 2400, amount_refunded: 400, currency: 'gbp' },
      { kind: 'money', amount: 400, currency: 'gbp', status: null, reason: null },
    ],
    ['customer.updated', { amount: 1 }, null],
  ])('is read from the payload of %s', (type, object, change) => {
    expect(readEventChange(type, JSON.stringify({ data: { object } }))).toEqual(change);
  });

  test('is null if the payload cannot be read', () => {
    expect(readEventChange('invoice.paid', 'not json')).toBeNull();
    expect(readEventChange('customer.subscription.updated', '{"data":{"object":{}}}')).toBeNull();
  });
});
