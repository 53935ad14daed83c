import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { history } from '../../testing/payment/random-history.ts';
import { project, type StateEvent } from './projection.ts';
import { eventClassOf, statusClassOf } from './provider-objects.ts';
import { readProjectionInput } from './subscription-row.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

/** Stores a history under a new subscription, and returns its id and the events' numbers. */
async function store(events: StateEvent[]): Promise<{ subscriptionId: string; numbers: Map<string, number> }> {
  const subscriptionId = `sub_${newId(running.app.now())}`;
  const rows = await running.app.db
    .insert(paymentEvents)
    .values(
      events.map(({ id, created, object, previous }) => ({
        id: `${id}_${subscriptionId}`,
        type: 'customer.subscription.updated',
        created,
        receivedAt: running.app.now(),
        subscriptionId,
        statusClass: eventClassOf({ statusClass: statusClassOf(String(object.status)) }, previous),
        handled: true,
        outcome: 'applied',
        payload: JSON.stringify({ data: { object, previous_attributes: previous } }),
      })),
    )
    .returning({ id: paymentEvents.id, number: paymentEvents.number });
  return { subscriptionId, numbers: new Map(rows.map(({ id, number }) => [id, number])) };
}

test('the events that are read give the same projection as the whole history', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.nat(12), async ({ events }, settledAt) => {
      const { subscriptionId, numbers } = await store(events);
      const all = events.map((event) => {
        const id = `${event.id}_${subscriptionId}`;
        return { ...event, id, number: numbers.get(id) ?? 0 };
      });
      const settledNumber = all[settledAt]?.number ?? 0;

      const { events: read } = await readProjectionInput(running.app.db, subscriptionId, { settledNumber });
      expect(project(read, settledNumber)).toEqual(project(all, settledNumber));
    }),
    { numRuns: 150 },
  );
});

test('the events read of a run of failed payments begin after the last settled event', async () => {
  const object = { id: 'sub_1', customer: 'cus_1', status: 'past_due' };
  const run = [10, 20, 30].map((created) => ({ id: `evt_${created}`, number: 0, created, object, previous: null }));
  const { subscriptionId, numbers } = await store(run);
  const settledNumber = numbers.get(`evt_10_${subscriptionId}`) ?? 0;
  const { events: read } = await readProjectionInput(running.app.db, subscriptionId, { settledNumber });
  expect(project(read, settledNumber)?.pastDueSince).toBe(20);
});

test('a few events are read by an index, however many are stored', async () => {
  const object = { id: 'sub_1', customer: 'cus_1', status: 'past_due' };
  const many = Array.from({ length: 4000 }, (_, at) => ({
    id: `evt_${at}`,
    number: at,
    created: 1000 + at,
    object: { ...object, status: at === 1500 ? 'active' : 'past_due' },
    previous: null,
  }));
  const { subscriptionId } = await store(many);
  await running.app.sql`analyze payment_events`;

  const { events: read } = await readProjectionInput(running.app.db, subscriptionId, { settledNumber: 0 });
  expect(read.length).toBeLessThanOrEqual(4);
  expect(project(read, 0)?.pastDueSince).toBe(2501);

  await running.app.db.transaction(async (tx) => {
    const before = await touched(tx);
    await readProjectionInput(tx, subscriptionId, { settledNumber: 0 });
    const after = await touched(tx);
    expect(after.scans).toBe(before.scans);
    expect(after.rows - before.rows).toBeGreaterThan(0);
    expect(after.rows - before.rows).toBeLessThan(20);
  });
});

/** Counts the sequential scans of the table, and its rows that were fetched by an index. */
async function touched(tx: Transaction) {
  const [counts] = await tx.execute<{ scans: number; rows: number }>(sql`
    select seq_scan::int as scans, idx_tup_fetch::int as rows
    from pg_stat_xact_user_tables where relname = 'payment_events'`);
  return counts ?? { scans: Number.NaN, rows: Number.NaN };
}
