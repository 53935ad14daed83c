import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentCustomers, paymentEvents, paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { makeMember } from '../../testing/billing.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { deliver, makeEvent } from '../../testing/payment/payment-events.ts';
import { history } from '../../testing/payment/random-history.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { type ProjectionInput, recompute } from '../projection/projection.ts';
import { readSubscriptionState } from '../projection/provider-objects.ts';
import { noSyncs } from '../sync/sync-queue.ts';

const billing = useBillingTest();

/** Inserts a customer, and returns how to deliver events about a subscription of it. No sync follows them. */
async function newSubscription() {
  const { app } = billing;
  const { organisationId } = await makeMember(billing);
  const unique = newId(app.now());
  const names = { id: `sub_${unique}`, customer: `cus_${unique}` };
  await app.db.insert(paymentCustomers).values({
    organisationId,
    customerId: names.customer,
    createdAt: app.now(),
  });
  const first = { ...names, status: 'active', created: 1000, current_period_end: 9000, metadata: { tier: 'silver' } };
  return {
    organisationId,
    unique,
    names,
    deliver(object: object, { in: used = app, ...more }: { in?: App } & Record<string, unknown>) {
      const data = { object: { ...first, ...object, ...names }, previous_attributes: more.previous ?? undefined };
      return deliver(
        { ...used, syncs: noSyncs },
        makeEvent(app, 'customer.subscription.updated', {}, { ...more, data }),
      );
    },
    async row() {
      const { id } = names;
      const [row] = await app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, id));
      if (row === undefined) throw new Error('There is no row.');
      return row;
    },
    events: () => app.db.select().from(paymentEvents).where(eq(paymentEvents.subscriptionId, names.id)),
  };
}

/** The App, with a database that refuses to begin a transaction. */
function withoutTransactions(app: App): App {
  const refuse = () => Promise.reject(new Error('A transaction was begun.'));
  return { ...app, db: Object.create(app.db, { transaction: { value: refuse } }) };
}

const renewal = (end: number) => ({ current_period_end: end });

test('a renewal is stored and written without a transaction', async () => {
  const subscription = await newSubscription();
  await subscription.deliver({}, { created: 2000 });
  const answer = await subscription.deliver(renewal(9500), {
    in: withoutTransactions(billing.app),
    created: 2001,
    previous: renewal(9000),
  });

  expect(answer).toEqual({ received: true, handled: true });
  const stored = (await subscription.events()).find(({ created }) => created === 2001);
  expect(stored).toMatchObject({ organisationId: subscription.organisationId, statusClass: 'other', handled: true });
  expect(await subscription.row()).toMatchObject({
    status: 'active',
    tier: 'silver',
    currentPeriodEnd: new Date(9_500_000),
    lastEventNumber: stored?.number,
    needsSync: true,
  });
});

test('a row that was written after it was read is computed again under the lock', async () => {
  const subscription = await newSubscription();
  await subscription.deliver({}, { created: 2000 });
  const ended = JSON.stringify(readSubscriptionState({ ...subscription.names, status: 'canceled' }));

  let late: Promise<unknown> = Promise.resolve();
  await billing.app.sql.begin(async (tx) => {
    await tx`select from organisations where id = ${subscription.organisationId} for no key update`;
    late = subscription.deliver(renewal(9500), { created: 2001, previous: renewal(9000) });
    await waitingForLocks(billing, 1);
    // As a sync does, to which the provider has answered that the subscription has ended.
    await tx`update payment_subscriptions set snapshot = ${ended}, snapshot_number = last_event_number, status = 'canceled',
      ended = true, current_period_end = null where id = ${subscription.names.id}`;
  });
  await late;

  expect(await subscription.row()).toMatchObject({ status: 'canceled', ended: true, currentPeriodEnd: null });
  expect(await subscription.events()).toHaveLength(2);
});

test('a late event decides with events that did not decide before it', async () => {
  const { deliver, row, unique } = await newSubscription();
  const due = { status: 'past_due', description: 'x' };
  await deliver({}, { created: 1001 });
  // The first of these two begins the run of failed payments, so the second is not read.
  await deliver(due, { id: `evt_a_${unique}`, created: 2000, previous: { status: 'active' } });
  await deliver({ ...due, description: 'z' }, { id: `evt_b_${unique}`, created: 2000 });
  await deliver(due, { created: 3000 });
  expect(await row()).toMatchObject({ pastDueSince: new Date(2_000_000) });

  // Now it is not certain that the second 2000 ends past due.
  await deliver({ description: 'x' }, { created: 2000, previous: { description: null } });
  expect(await row()).toMatchObject({ pastDueSince: new Date(3_000_000) });
});

test('a late renewal does not replace a newer one, and an ended subscription is not renewed', async () => {
  const { deliver, row } = await newSubscription();
  await deliver({}, { created: 2000 });
  await deliver(renewal(9500), { created: 3000, previous: renewal(9000) });
  await deliver(renewal(9300), { created: 2500, previous: renewal(9000) });
  expect(await row()).toMatchObject({ currentPeriodEnd: new Date(9_500_000) });
  // Of two changes in one second, the first one arrives last.
  await deliver(renewal(9700), { created: 3500, previous: renewal(9600) });
  await deliver(renewal(9600), { created: 3500, previous: renewal(9500) });
  expect(await row()).toMatchObject({ currentPeriodEnd: new Date(9_700_000) });

  await deliver({ status: 'canceled' }, { created: 4000, previous: { status: 'active' } });
  await deliver(renewal(9700), { created: 5000, previous: renewal(9500) });
  expect(await row()).toMatchObject({ status: 'canceled', ended: true, currentPeriodEnd: null });
});

test('an event that another node has stored meanwhile, with a key of the other mode, is a duplicate', async () => {
  const subscription = await newSubscription();
  await subscription.deliver({}, { created: 2000 });
  const id = `evt_twice_${subscription.unique}`;

  let late: Promise<unknown> = Promise.resolve();
  await billing.app.sql.begin(async (tx) => {
    await tx`select from organisations where id = ${subscription.organisationId} for no key update`;
    late = subscription.deliver(renewal(9500), { id, created: 2001, previous: renewal(9000) });
    await waitingForLocks(billing, 1);
    await tx`insert into payment_events (id, type, created, received_at, handled, outcome, payload)
      values (${id}, 'customer.subscription.updated', 2001, now(), false, 'other_mode', '{}')`;
  });

  expect(await late).toEqual({ received: true, handled: false });
  expect(await subscription.events()).toHaveLength(1);
});

test('events that arrive concurrently, in any order and twice, give the row of the whole set', async () => {
  const arriving = history.chain(({ events }) =>
    fc.record({
      events: fc.constant(events),
      order: fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
      atOnce: fc.integer({ min: 1, max: 8 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(arriving, async ({ events, order, atOnce }) => {
      const subscription = await newSubscription();
      const named = (id: string) => `${id}_${subscription.unique}`;
      for (let at = 0; at < order.length; at += atOnce) {
        const together = order
          .slice(at, at + atOnce)
          .map(({ id, created, object, previous }) =>
            subscription.deliver(object, { id: named(id), created, previous }),
          );
        for (const answer of await Promise.all(together)) expect(answer).toEqual({ received: true, handled: true });
      }

      const stored = await subscription.events();
      const numbers = new Map(stored.map(({ id, number }) => [id, number]));
      expect(numbers.size).toBe(events.length);
      expect(new Set(numbers.values()).size).toBe(events.length);

      const row = await subscription.row();
      const whole: ProjectionInput = {
        row,
        prices: [],
        events: events.map((event) => ({
          ...event,
          id: named(event.id),
          object: { ...event.object, ...subscription.names },
          number: numbers.get(named(event.id)) ?? 0,
        })),
      };
      expect(row).toMatchObject(recompute(billing.app, whole)?.columns ?? {});
      expect(row).toMatchObject({ lastEventNumber: Math.max(...numbers.values()), needsSync: true });
    }),
    { numRuns: 60 },
  );
});
