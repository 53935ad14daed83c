import { and, eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEvents } from '../db/schema/audit.ts';
import { paymentSubscriptions } from '../db/schema/billing.ts';
import type { Administrator } from '../sessions/authorisation.ts';
import { type BillingTest, makeSecond, makeSubscriber, ownedBy, startBillingTest } from '../testing/billing.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { requirePayment } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { readPlan } from './entitlement/read-plan.ts';

let billing: BillingTest;
beforeAll(async () => {
  billing = await startBillingTest();
});
afterAll(() => billing.close());
beforeEach(() => {
  billing.sandbox.payment.reset();
  billing.sandbox.payment.set({ retry_first_ms: 100 });
});

const provider = () => billing.sandbox.payment;
const ask = () => requirePayment(billing.app).ask;
const cancel = (principal: Administrator) => setCancellation(billing.app, principal, true);
const resume = (principal: Administrator) => setCancellation(billing.app, principal, false);
const schedule = (id: string) => ask()((api) => api.subscriptionSchedules.create({ from_subscription: id }));
const stateOf = (id: string) => provider().state().subscriptions[id];

async function rowOf(id: string) {
  const [row] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row;
}

function priceOf(tier: string): string {
  return Object.values(provider().state().prices).find(({ lookup_key }) => lookup_key === `${tier}_monthly`)?.id ?? '';
}

/** A second subscription whose first payment is awaited. */
function makeIncomplete(customer: unknown, tier: 'silver' | 'gold' = 'gold') {
  return ask()((api) =>
    api.subscriptions.create({
      customer: String(customer),
      items: [{ price: priceOf(tier) }],
      payment_behavior: 'default_incomplete',
    }),
  );
}

describe('cancel', () => {
  test('ends an incomplete subscription, which cannot be updated, and schedules the end of the paid one', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await makeIncomplete(subscription.customer);
    expect(await cancel(principal)).toMatchObject({ tier: 'silver', status: 'active', cancel_at_period_end: true });
    expect(stateOf(id)?.status).toBe('canceled');
    expect(await rowOf(id)).toMatchObject({ status: 'canceled', ended: true });
  });

  test('of an incomplete subscription alone answers with its end', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptions.cancel(subscription.id));
    await makeIncomplete(subscription.customer);
    const ended = { status: 'canceled', cancel_at_period_end: false, ends_at: null, current_period_end: null };
    expect(await cancel(principal)).toMatchObject(ended);
    await expect(cancel(principal)).rejects.toThrow('There is no paid plan.');
  });

  test('of a subscription that a schedule manages releases the schedule first', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await schedule(subscription.id);
    expect(await cancel(principal)).toMatchObject({ tier: 'silver', cancel_at_period_end: true });
    expect(provider().state().subscription_schedules[id]?.status).toBe('released');
    expect(await resume(principal)).toMatchObject({ cancel_at_period_end: false });
  });

  test('asks for nothing where a schedule ends the plan with its period already', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await schedule(subscription.id);
    await ask()((api) => api.subscriptionSchedules.update(id, { end_behavior: 'cancel' }));
    expect(await cancel(principal)).toMatchObject({ cancel_at_period_end: true });
    expect(provider().state().subscription_schedules[id]?.status).toBe('active');
  });

  test('of a plan that is set to end some periods later moves the end forward to that of the paid period', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const end = subscription.items.data[0]?.current_period_end ?? 0;
    await ask()((api) => api.subscriptions.update(subscription.id, { cancel_at: end + 90 * 86_400 }));
    expect(await cancel(principal)).toMatchObject({
      cancel_at_period_end: true,
      ends_at: new Date(end * 1000).toISOString(),
    });
  });

  test('of a plan that was paused after its period ends it immediately', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().forceStatus(subscription.id, 'paused');
    subscription.status_details = {
      paused: {
        subscription: { type: 'trial_end_without_payment_method' },
        transitioned_at: subscription.items.data[0]?.current_period_end ?? 0,
        type: 'subscription',
      },
    };
    expect(await cancel(principal)).toMatchObject({ status: 'canceled', cancel_at_period_end: false });
    expect(stateOf(subscription.id)?.status).toBe('canceled');
  });

  test('of a plan that was paused within its period schedules its end, and resume removes it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptions.pause(subscription.id));
    expect(await cancel(principal)).toMatchObject({ status: 'paused', cancel_at_period_end: true });
    expect(await resume(principal)).toMatchObject({ status: 'paused', cancel_at_period_end: false });
    expect(stateOf(subscription.id)?.status).toBe('paused');
  });

  test('of one that ended meanwhile succeeds', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    provider().set({ api_delay_ms: 300 });
    const answer = cancel(principal);
    await new Promise((resolve) => setTimeout(resolve, 450));
    provider().forceStatus(second.id, 'canceled');
    expect(await answer).toMatchObject({ tier: 'silver', cancel_at_period_end: true });
  });
});

describe('resume', () => {
  test('of a plan that a schedule ends releases the schedule, and the plan continues', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { id } = await schedule(subscription.id);
    await ask()((api) => api.subscriptionSchedules.update(id, { end_behavior: 'cancel' }));
    expect(await resume(principal)).toMatchObject({ cancel_at_period_end: false, ends_at: null });
    expect(stateOf(subscription.id)).toMatchObject({ cancel_at: null, schedule: null });
  });

  test('removes the ends of several, each in its own form, and does not change an incomplete one', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const incomplete = await makeIncomplete(subscription.customer);
    await ask()((api) => api.subscriptions.update(subscription.id, { cancel_at: 'min_period_end' }));
    await ask()((api) => api.subscriptions.update(second.id, { cancel_at_period_end: true }));
    expect(await resume(principal)).toMatchObject({ tier: 'gold', cancel_at_period_end: false });
    for (const { id } of [subscription, second]) expect(stateOf(id)?.cancel_at).toBeNull();
    expect(stateOf(incomplete.id)?.status).toBe('incomplete');
  });
});

describe('if one of several cannot be changed', () => {
  async function audited(organisationId: string) {
    const ofPlan = and(eq(auditEvents.organisationId, organisationId), eq(auditEvents.action, 'plan-cancelled'));
    return (await billing.app.db.select().from(auditEvents).where(ofPlan)).length;
  }

  test('the others are still canceled and stored, and the error names what remains', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    const third = await makeIncomplete(subscription.customer, 'silver');
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

  test('entitled ones come first, whatever the provider lists first', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await makeIncomplete(subscription.customer);
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
              // Not the list that everything begins with.
              ++asked === failing + 2 ? Promise.reject(new Error('cut off')) : payment.ask(question),
          },
        };
        const first = await setCancellation(app, principal, true).catch(() => null);
        const left = ownedBy(billing, principal).subscriptions.filter(goesOn);
        if (first !== null) expect(left).toEqual([]);
        expect(left.length).toBeLessThanOrEqual(1);

        await cancel(principal);
        expect(ownedBy(billing, principal).subscriptions.filter(goesOn)).toEqual([]);
        await billing.settled();
        for (const { id, status } of ownedBy(billing, principal).subscriptions) {
          expect(await rowOf(id)).toMatchObject({ status });
        }
        expect((await readPlan(billing.app, principal.organisationId)).tier).toBe('silver');
      }),
      { numRuns: 10 },
    );
  }, 120_000);
});

type Subscription = ReturnType<typeof ownedBy>['subscriptions'][number];

function goesOn({ status, cancel_at: end, items }: Subscription): boolean {
  return status !== 'canceled' && (end === null || end > (items.data[0]?.current_period_end ?? 0));
}

async function add(kind: string, customer: unknown): Promise<void> {
  if (kind === 'incomplete') return void (await makeIncomplete(customer, 'silver'));
  const { id } = await makeSecond(billing, customer, 'silver');
  if (kind === 'scheduled') await schedule(id);
  if (kind === 'paused') await ask()((api) => api.subscriptions.pause(id));
  if (kind === 'past_due' || kind === 'unpaid') provider().forceStatus(id, kind);
  if (kind === 'ending') await ask()((api) => api.subscriptions.update(id, { cancel_at: 'min_period_end' }));
}

describe('the end of an organisation', () => {
  test('ends what is paused, incomplete or managed by a schedule, and what a schedule would start later', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { customer } = subscription;
    for (const kind of ['incomplete', 'scheduled', 'paused', 'unpaid']) await add(kind, customer);
    const planned = await ask()((api) =>
      api.subscriptionSchedules.create({
        customer: String(customer),
        start_date: provider().clock.now() + 86_400,
        phases: [{ items: [{ price: priceOf('gold') }] }],
      }),
    );
    await endSubscriptions(billing.app, principal.organisationId);
    provider().clock.advance({ days: 40 });
    const { subscriptions } = ownedBy(billing, principal);
    expect(subscriptions.map(({ status }) => status)).toEqual(Array(5).fill('canceled'));
    expect(provider().state().subscription_schedules[planned.id]?.status).toBe('canceled');
  });

  test('that one failure delays ends all others immediately', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const second = await makeSecond(billing, subscription.customer, 'gold');
    provider().failNext(400, { count: 1, only: `DELETE /v1/subscriptions/${second.id}` });
    await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
    });
    expect(stateOf(subscription.id)?.status).toBe('canceled');
    await endSubscriptions(billing.app, principal.organisationId);
    expect(stateOf(second.id)?.status).toBe('canceled');
  });

  test('that one planned start delays cancels the other planned ones', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const plan = () =>
      ask()((api) =>
        api.subscriptionSchedules.create({
          customer: String(subscription.customer),
          start_date: provider().clock.now() + 86_400,
          phases: [{ items: [{ price: priceOf('gold') }] }],
        }),
      );
    const planned = [await plan(), await plan()];
    provider().failNext(400, { count: 1, only: 'POST /v1/subscription_schedules/' });
    await expect(endSubscriptions(billing.app, principal.organisationId)).rejects.toThrow();
    const statuses = planned.map(({ id }) => provider().state().subscription_schedules[id]?.status);
    expect(statuses.toSorted()).toEqual(['canceled', 'not_started']);
  });

  test('is refused without a key while a checkout may still be paid', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await ask()((api) => api.subscriptions.cancel(subscription.id));
    await billing.settled();
    await startCheckout(billing.app, principal, { tier: 'gold' });
    const off = { ...billing.app, payment: null };
    await expect(endSubscriptions(off, principal.organisationId)).rejects.toMatchObject({
      code: 'BILLING_UNAVAILABLE',
    });
    const tomorrow = new Date(billing.app.now().getTime() + 25 * 3_600_000);
    await endSubscriptions({ ...off, now: () => tomorrow }, principal.organisationId);
  });
});
