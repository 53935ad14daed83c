import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paymentEvents, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { type BillingTest, makeMember, makeSubscriber, startBillingTest } from '../testing/billing.ts';
import { callerFor } from '../testing/factories.ts';

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

async function rowOf(id: string) {
  const [row] = await running.app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
  return row;
}

async function _storedEvent(id: string) {
  const [row] = await running.app.db.select().from(paymentEvents).where(eq(paymentEvents.id, id));
  return row;
}

describe('the event store', () => {
  test('is searched by an event’s id and type, its objects and its organisation', async () => {
    const { principal, subscription } = await makeSubscriber(running);
    const { organisation } = principal;
    const all = (await operators.events({ search: organisation?.slug })).events;
    const created = all.find(({ type }) => type === 'customer.subscription.created');

    expect(created).toMatchObject({ outcome: 'applied', flagged: false, organisation: { id: organisation?.id } });
    for (const search of [created?.id, subscription.id, String(subscription.customer)]) {
      expect((await operators.events({ search })).events.map(({ id }) => id)).toContain(created?.id);
    }
    expect((await operators.events({ search: 'customer.subscription.cre' })).events.map(({ id }) => id)).toContain(
      created?.id,
    );
    expect((await operators.events({ search: 'Comp' })).events.length).toBeGreaterThan(0);
    expect((await operators.events({ search: '%' })).events).toEqual([]);
  });

  test('is listed newest first, in pages that hold each event once', async () => {
    for (let made = 0; made < 110; made++) running.sandbox.payment.emit('balance.available', { id: `ba_${made}` });
    await running.settled();

    const seen: string[] = [];
    let pages = 0;
    for (let before: string | null | undefined; before !== null; pages++) {
      const page = await operators.events({ search: 'balance.', ...(before === undefined ? {} : { before }) });
      seen.push(...page.events.map(({ id }) => id));
      before = page.next;
    }

    expect(pages).toBe(3);
    const stored = await running.app.db
      .select({ id: paymentEvents.id, number: paymentEvents.number })
      .from(paymentEvents)
      .where(eq(paymentEvents.type, 'balance.available'));
    expect(seen).toEqual(stored.sort((one, other) => other.number - one.number).map(({ id }) => id));
    expect((await operators.events({ before: 'nonsense' })).events[0]?.id).toBe(seen[0]);
  });

  test('shows an event with its original payload, its outcome, its effect and the current row', async () => {
    const { subscription } = await makeSubscriber(running);
    const [updated] = (await operators.events({ search: subscription.id })).events.filter(({ type }) =>
      type.startsWith('customer.subscription.'),
    );
    const event = await operators.event({ event_id: updated?.id ?? '' });

    expect(event).toMatchObject({ outcome: 'applied', handled: true, effect: 'state', subscription: subscription.id });
    expect(event.row).toMatchObject({ id: subscription.id, status: 'active', plan: 'Silver', needs_sync: false });
    expect(JSON.parse(event.payload ?? '')).toMatchObject({ id: updated?.id });
    await expect(operators.event({ event_id: 'evt_nowhere' })).rejects.toMatchObject({ cause: { code: 'NOT_FOUND' } });
  });
});

describe('drift', () => {
  test('is shown for a row that could not be synced, and repaired by syncing now', async () => {
    const { principal, subscription } = await makeSubscriber(running);
    await running.app.db
      .update(paymentSubscriptions)
      .set({ needsSync: true, status: 'past_due' })
      .where(eq(paymentSubscriptions.id, subscription.id));

    const drift = await operators.drift();
    const row = drift.rows.find(({ id }) => id === subscription.id);
    expect(row).toMatchObject({ needs_sync: true, organisation: { id: principal.organisationId } });

    const synced = await operators.syncNow({ subscription_id: subscription.id });
    expect(synced.row).toMatchObject({ status: 'active', needs_sync: false });
    expect((await operators.drift()).rows.map(({ id }) => id)).not.toContain(subscription.id);
  });

  test('that no row shows is found and repaired by a comparison', async () => {
    const { subscription } = await makeSubscriber(running);
    running.sandbox.payment.set({ drop_deliveries: true });
    running.sandbox.payment.forceStatus(subscription.id, 'unpaid');
    running.sandbox.payment.resetSwitches();
    running.sandbox.payment.set({ retry_first_ms: 100 });
    expect((await operators.drift()).rows.map(({ id }) => id)).not.toContain(subscription.id);

    expect((await operators.compareNow()).subscriptions).toBeGreaterThan(0);
    expect(await rowOf(subscription.id)).toMatchObject({ status: 'unpaid' });
  });

  test('cannot be synced for an unknown subscription', async () => {
    await expect(operators.syncNow({ subscription_id: 'sub_nowhere' })).rejects.toMatchObject({
      cause: { code: 'NOT_FOUND' },
    });
  });
});
