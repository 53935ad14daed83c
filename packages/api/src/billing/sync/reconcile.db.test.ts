import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Principal } from '../../auth/principal.ts';
import { readPlan } from '../../organisations/plan.ts';
import { paymentEvents, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { readSubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { makeMember, makeSubscriber, ownedBy, priceOf } from '../../testing/billing.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requirePayment } from '../actions/require-payment.ts';
import { startCheckout } from '../actions/start-checkout.ts';
import { applyUndelivered } from '../events/apply-undelivered.ts';
import { enqueueDue } from './jobs.ts';
import { reconcileAll } from './reconcile.ts';
import { findingsOf } from './report.ts';
import { storeAnswer } from './store-answer.ts';
import { syncSubscription } from './sync.ts';

const billing = useBillingTest();
const provider = () => billing.sandbox.payment;
const plan = async (principal: Principal) => readPlan(billing.app, principal.organisationId ?? '');

async function row(id: string) {
  const [found] = await billing.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  if (found === undefined) throw new Error(`no row ${id}`);
  return found;
}

const change = (id: string, set: Partial<typeof paymentSubscriptions.$inferInsert>) =>
  billing.app.db.update(paymentSubscriptions).set(set).where(eq(paymentSubscriptions.id, id));

describe('with webhooks blocked', () => {
  test('undelivered events are applied through the same function, once', async () => {
    provider().set({ drop_deliveries: true });
    const principal = await makeMember(billing);
    provider().payCheckout((await startCheckout(billing.app, principal, { tier: 'silver' })).url);
    expect((await plan(principal)).tier).toBe('free');

    expect(await applyUndelivered(billing.app)).toBeGreaterThan(2);
    expect((await plan(principal)).tier).toBe('silver');
    expect(await applyUndelivered(billing.app)).toBe(0);
  });

  test('undelivered events are applied in the order in which they happened', async () => {
    const { subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    const isOurs = eq(paymentEvents.subscriptionId, subscription.id);
    const before = await billing.app.db.$count(paymentEvents, isOurs);
    for (const status of ['past_due', 'active', 'past_due']) {
      provider().clock.advance({ days: 1 });
      provider().forceStatus(subscription.id, status);
    }
    await applyUndelivered(billing.app);
    const rows = await billing.app.db.select().from(paymentEvents).where(isOurs).orderBy(paymentEvents.number);
    const seconds = rows.slice(before).map(({ created }) => created);
    expect(new Set(seconds).size).toBeGreaterThan(2);
    expect(seconds).toEqual(seconds.toSorted((one, other) => one - other));
  });

  test('an event that cannot be applied does not stop the others', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    provider().emit('something.odd', { id: 'odd_1' }, { id: 'evt_odd' });
    provider().forceStatus(subscription.id, 'canceled');
    let first = true;
    const transaction: typeof billing.app.db.transaction = (act, config) => {
      if (!first) return billing.app.db.transaction(act, config);
      first = false;
      return Promise.reject(new Error('The database went away.'));
    };
    const db = new Proxy(billing.app.db, {
      get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
    });

    expect(await applyUndelivered({ ...billing.app, db })).toBeGreaterThan(0);
    expect((await plan(principal)).tier).toBe('free');
    expect(billing.logged.pop()).toMatchObject({ level: 'error', fields: { event: 'evt_odd' } });
    expect(await applyUndelivered(billing.app)).toBe(1);
  });

  test('a comparison of all subscriptions repairs what no event reported', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const fresh = await makeMember(billing);
    provider().set({ drop_deliveries: true });
    provider().forceStatus(subscription.id, 'canceled');
    provider().payCheckout((await startCheckout(billing.app, fresh, { tier: 'gold' })).url);
    for (const event of provider().events()) event.pending_webhooks = 0;

    const report = await reconcileAll(billing.app);
    expect((await plan(principal)).tier).toBe('free');
    expect((await plan(fresh)).tier).toBe('gold');
    expect(report.repaired).toContain(ownedBy(billing, fresh).subscriptions[0]?.id);
    expect((await reconcileAll(billing.app)).repaired).toEqual([]);
  });

  test('also another item, and another quantity', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const { ask } = requirePayment(billing.app);
    provider().set({ drop_deliveries: true });
    const price = priceOf(billing, 'gold');
    const item = await ask((api) => api.subscriptionItems.create({ subscription: subscription.id, price }));
    for (const event of provider().events()) event.pending_webhooks = 0;
    expect((await reconcileAll(billing.app)).repaired).toContain(subscription.id);
    expect((await plan(principal)).tier).toBe('gold');
    const { amount } = await row(subscription.id);

    await ask((api) => api.subscriptionItems.update(item.id, { quantity: 3 }));
    for (const event of provider().events()) event.pending_webhooks = 0;
    await reconcileAll(billing.app);
    expect(await row(subscription.id)).toMatchObject({ quantity: 3 });
    expect((await row(subscription.id)).amount).toBeGreaterThan(amount ?? 0);
    expect((await reconcileAll(billing.app)).repaired).toEqual([]);
  });

  test('and a debt that was written off or paid without any event', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    const [invoice] = ownedBy(billing, principal).invoices;
    if (invoice === undefined) throw new Error('There is no invoice.');
    for (const [status, tier] of [
      ['uncollectible', 'free'],
      ['paid', 'silver'],
    ] as const) {
      invoice.status = status;
      const { drift } = await reconcileAll(billing.app);
      const [was, is] = status === 'paid' ? ['uncollectible', 'none'] : ['none', 'uncollectible'];
      expect(drift).toContainEqual({
        subscription: subscription.id,
        differences: [{ what: 'invoice trouble', was, is }],
      });
      expect((await plan(principal)).tier).toBe(tier);
    }
    // A draft or a void invoice decides nothing by itself.
    invoice.status = 'draft';
    expect((await reconcileAll(billing.app)).repaired).toEqual([]);
  });
});

describe('a row needs a sync', () => {
  async function isDue(id: string): Promise<boolean> {
    await enqueueDue(billing.app);
    const jobs = await billing.app.sql`
      select 1 from pgboss.job where name = 'payment-sync' and singleton_key = ${id} and created_on > now() - interval '5 seconds'`;
    return jobs.length > 0;
  }

  const minute = 60_000;
  const at = (milliseconds: number) => new Date(billing.app.now().getTime() + milliseconds);

  test.each<[string, () => Partial<typeof paymentSubscriptions.$inferInsert>, boolean]>([
    ['marked so', () => ({ needsSync: true }), true],
    ['at its scheduled end', () => ({ endsAt: at(-1000), syncedAt: at(-2000) }), true],
    ['at its scheduled end, asked since then', () => ({ endsAt: at(-2 * minute), syncedAt: at(-minute) }), false],
    ['past its scheduled end, asked long ago', () => ({ endsAt: at(-60 * minute), syncedAt: at(-16 * minute) }), true],
    ['before its scheduled end', () => ({ endsAt: at(minute), syncedAt: at(-60 * minute) }), false],
    [
      'three days past its period',
      () => ({ currentPeriodEnd: at(-73 * 60 * minute), syncedAt: at(-16 * minute) }),
      true,
    ],
    [
      'two days past its period',
      () => ({ currentPeriodEnd: at(-48 * 60 * minute), syncedAt: at(-60 * minute) }),
      false,
    ],
    [
      'paused, and long past its period',
      () => ({ status: 'paused', currentPeriodEnd: at(-73 * 60 * minute), syncedAt: at(-16 * minute) }),
      false,
    ],
    ['ended', () => ({ ended: true, endsAt: at(-1000), syncedAt: at(-2000) }), false],
  ])('%s', async (_, facts, due) => {
    const { subscription } = await makeSubscriber(billing);
    await billing.app.sql`delete from pgboss.job where name = 'payment-sync'`;
    await change(subscription.id, { needsSync: false, endsAt: null, currentPeriodEnd: at(minute), ...facts() });
    expect(await isDue(subscription.id)).toBe(due);
  });

  test('long past its period, and keeps its plan until the provider is asked', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    await change(subscription.id, { currentPeriodEnd: at(-10 * 24 * 60 * minute) });
    expect((await plan(principal)).tier).toBe('silver');
  });
});

describe('a sync', () => {
  test('flags a subscription that the provider does not know, and does not end it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    delete provider().state().subscriptions[subscription.id];
    await change(subscription.id, { needsSync: true });
    await syncSubscription(billing.app, subscription.id);
    expect(await row(subscription.id)).toMatchObject({ problem: 'unknown_to_provider', needsSync: false });
    expect((await plan(principal)).tier).toBe('silver');
    expect(findingsOf(await reconcileAll(billing.app))).toContain(`unknown to provider: ${subscription.id}`);
  });

  test('removes the flag once the provider knows the subscription again, unchanged', async () => {
    const { subscription } = await makeSubscriber(billing);
    const { subscriptions } = provider().state();
    delete subscriptions[subscription.id];
    await syncSubscription(billing.app, subscription.id);
    expect(await row(subscription.id)).toMatchObject({ problem: 'unknown_to_provider' });

    subscriptions[subscription.id] = subscription;
    const report = await reconcileAll(billing.app);
    expect(await row(subscription.id)).toMatchObject({ problem: null, status: 'active' });
    expect(report.problems.map((each) => each.subscription)).not.toContain(subscription.id);
  });

  test('refuses and flags a subscription of another customer', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    Object.assign(provider().state().subscriptions[subscription.id] ?? {}, {
      customer: 'cus_other',
      status: 'canceled',
    });
    await syncSubscription(billing.app, subscription.id);
    expect(await row(subscription.id)).toMatchObject({ problem: 'other_customer', status: 'active' });
    expect((await plan(principal)).tier).toBe('silver');
  });

  test('that was overtaken by an event is not stored, and the row stays marked', async () => {
    const { subscription } = await makeSubscriber(billing);
    const { organisationId, customerId, version } = await row(subscription.id);
    await change(subscription.id, { needsSync: true, version: version + 1 });
    const state = readSubscriptionState({ ...subscription, status: 'paused' });
    if (state === null) throw new Error('unreadable');

    const answer = { state, at: Math.floor(billing.app.now().getTime() / 1000) };
    expect(await storeAnswer(billing.app, { organisationId, customerId }, answer, version)).toBe(false);
    expect(await row(subscription.id)).toMatchObject({ status: 'active', needsSync: true });
    expect(await storeAnswer(billing.app, { organisationId, customerId }, answer, version + 1)).toBe(true);
    expect(await row(subscription.id)).toMatchObject({ status: 'paused', needsSync: false, version: version + 2 });
  });

  test('of an end is final', async () => {
    const { subscription } = await makeSubscriber(billing);
    const { organisationId, customerId } = await row(subscription.id);
    for (const status of ['canceled', 'active']) {
      const state = readSubscriptionState({ ...subscription, status });
      if (state === null) throw new Error('unreadable');
      const { version } = await row(subscription.id);
      const answer = { state, at: Math.floor(billing.app.now().getTime() / 1000) + 60 };
      await storeAnswer(billing.app, { organisationId, customerId }, answer, version);
      expect((await row(subscription.id)).status).toBe('canceled');
    }
  });

  test('counts past due from its first sync that showed it, if no event reports it', async () => {
    const { principal, subscription } = await makeSubscriber(billing);
    provider().set({ drop_deliveries: true });
    provider().forceStatus(subscription.id, 'past_due');
    await syncSubscription(billing.app, subscription.id);
    const { pastDueSince } = await row(subscription.id);
    await syncSubscription(billing.app, subscription.id);
    expect((await row(subscription.id)).pastDueSince).toEqual(pastDueSince);
    expect((await plan(principal)).tier).toBe('silver');
  });

  test('of a burst of events is one request, and one more for events that arrived meanwhile', async () => {
    const { subscription } = await makeSubscriber(billing);
    const { payment } = billing.app;
    if (payment === null) throw new Error('billing is off');
    const { ask } = payment;
    let asked = 0;
    let answer = () => {};
    const allCame = new Promise<void>((resolve) => {
      answer = resolve;
    });
    payment.ask = async (question) => {
      asked++;
      await allCame;
      return ask(question);
    };

    try {
      for (let at = 0; at < 15; at++) provider().forceStatus(subscription.id, at % 2 === 0 ? 'past_due' : 'active');
      await provider().deliveries.settled({ retries: true });
      answer();
      await billing.settled();
    } finally {
      answer();
      payment.ask = ask;
    }
    expect(asked).toBeLessThanOrEqual(2);
    expect(await row(subscription.id)).toMatchObject({ needsSync: false, status: 'past_due' });
  });
});
