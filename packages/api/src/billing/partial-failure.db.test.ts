import { and, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { readPlan } from '../organisations/plan.ts';
import { auditEvents } from '../platform/db/schema/audit.ts';
import { makeIncomplete, makeSecond, makeSubscriber, ownedBy } from '../testing/billing.ts';
import { subscriptionsOf } from '../testing/payment/subscriptions-of.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { requirePayment } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { readOverview } from './summary/read-overview.ts';

const billing = useBillingTest({ emptiesProvider: true });

const { ask, rowOf, schedule, stateOf } = subscriptionsOf(billing);
const provider = () => billing.sandbox.payment;
const cancel = (principal: Administrator) => setCancellation(billing.app, principal, { cancel: true });

describe('if one of several cannot be changed', () => {
  async function audited(organisationId: string) {
    const ofPlan = and(eq(auditEvents.organisationId, organisationId), eq(auditEvents.action, 'plan-cancelled'));
    return (await billing.app.db.select().from(auditEvents).where(ofPlan)).length;
  }

  test('the others are still canceled and stored, and the error names what remains', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const third = await makeIncomplete(billing, subscription.customer, 'silver');
    provider().set({ drop_deliveries: true });
    // The entitled gold one comes first, and fails.
    provider().failNext(400, { count: 1, only: `POST /v1/subscriptions/${second.id}` });
    await expect(cancel(principal)).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'The Gold plan could not be cancelled. Everything else was. Try again in a moment.',
    });
    expect(stateOf(second.id)?.cancel_at).toBeNull();
    expect(await rowOf(subscription.id)).toMatchObject({ cancelAtPeriodEnd: true });
    expect(await rowOf(third.id)).toMatchObject({ status: 'canceled' });
    expect(await audited(principal.organisationId)).toBe(1);

    expect(await cancel(principal)).toMatchObject({ tier: 'gold', cancel_at_period_end: true });
  });

  test('the page still offers cancel while another than the one that decides the plan goes on', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const goesOn = async () => (await readOverview(billing.app, principal)).plan.another_goes_on;
    provider().failNext(400, { count: 1, only: `POST /v1/subscriptions/${subscription.id}` });
    await expect(cancel(principal)).rejects.toThrow('The Silver plan could not be cancelled. Everything else was.');
    await billing.settled();
    expect((await readOverview(billing.app, principal)).plan).toMatchObject({
      tier: 'gold',
      cancel_at_period_end: true,
    });
    expect(stateOf(second.id)?.cancel_at_period_end).toBe(true);
    expect(await goesOn()).toBe(true);

    await cancel(principal);
    expect(await goesOn()).toBe(false);
  });

  test('entitled ones come first, whatever the provider lists first', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await makeIncomplete(billing, subscription.customer);
    provider().failNext(500, { count: 20, only: 'DELETE /v1/subscriptions' });
    await expect(cancel(principal)).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    expect(stateOf(subscription.id)?.cancel_at_period_end).toBe(true);
  });

  test('a schedule that cannot be released prevents only its own subscription’s end', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const managing = await schedule(second.id);
    provider().failNext(400, { count: 1, only: `POST /v1/subscription_schedules/${managing.id}/release` });
    await expect(cancel(principal)).rejects.toThrow('The Gold plan could not be cancelled.');
    expect(stateOf(subscription.id)?.cancel_at_period_end).toBe(true);
    expect(stateOf(second.id)).toMatchObject({ schedule: managing.id, cancel_at: null });
    expect(await cancel(principal)).toMatchObject({ tier: 'gold', cancel_at_period_end: true });
  });

  test('one that the provider does not know remains, and the error names the operator', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    await billing.settled();
    delete provider().state().subscriptions[second.id];
    await expect(cancel(principal)).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'The Gold plan could not be cancelled. Everything else was. Ask the operator of this service.',
    });
    expect(stateOf(subscription.id)?.cancel_at_period_end).toBe(true);
  });

  test('for any subscriptions and any failure, after a second cancel none continues', async () => {
    const kind = fc.constantFrom('active', 'incomplete', 'scheduled', 'paused', 'past_due', 'unpaid', 'ending');
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: 4 }), fc.nat(5), async (kinds, failing) => {
        provider().resetSwitches();
        const { principal, subscription } = await makeSubscriber(billing);
        for (const each of kinds) await add(each, subscription.customer);
        let asked = 0;
        const payment = requirePayment(billing.app);
        const app = {
          ...billing.app,
          payment: {
            ...payment,
            ask: <Answer>(question: Parameters<typeof payment.ask<Answer>>[0]) =>
              // The first request lists the subscriptions and does not fail.
              ++asked === failing + 2 ? Promise.reject(new Error('cut off')) : payment.ask(question),
          },
        };
        const first = await setCancellation(app, principal, { cancel: true }).catch(() => null);
        const left = ownedBy(billing, principal).subscriptions.filter(continues);
        if (first !== null) expect(left).toEqual([]);
        expect(left.length).toBeLessThanOrEqual(1);

        await cancel(principal);
        expect(ownedBy(billing, principal).subscriptions.filter(continues)).toEqual([]);
        await billing.settled();
        for (const { id, status } of ownedBy(billing, principal).subscriptions) {
          expect(await rowOf(id)).toMatchObject({ status });
        }
        expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
      }),
      { numRuns: 10 },
    );
  });
});

type Subscription = ReturnType<typeof ownedBy>['subscriptions'][number];

function continues({ status, cancel_at: end, items }: Subscription): boolean {
  return status !== 'canceled' && (end === null || end > (items.data[0]?.current_period_end ?? 0));
}

async function add(kind: string, customer: unknown): Promise<void> {
  if (kind === 'incomplete') return void (await makeIncomplete(billing, customer, 'silver'));
  const { id } = await makeSecond(billing, customer, 'silver');
  if (kind === 'scheduled') await schedule(id);
  if (kind === 'paused') await ask()((api) => api.subscriptions.pause(id));
  if (kind === 'past_due' || kind === 'unpaid') provider().forceStatus(id, kind);
  if (kind === 'ending') await ask()((api) => api.subscriptions.update(id, { cancel_at: 'min_period_end' }));
}
