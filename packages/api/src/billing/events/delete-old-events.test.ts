import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { history } from '../../testing/payment/random-history.ts';
import { project } from '../projection/projection.ts';
import { eventClassOf, statusClassOf } from '../projection/provider-objects.ts';
import { readProjectionInput } from '../projection/subscription-row.ts';
import { billingJobs } from '../sync/jobs.ts';
import { deleteOldEvents } from './delete-old-events.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

const old = () => new Date(running.app.now().getTime() - 401 * dayMilliseconds);

type Entry = Partial<typeof paymentEvents.$inferInsert>;
async function keep(entries: Entry[]): Promise<void> {
  const rows = entries.map((entry) => ({
    id: `evt_${newId(running.app.now())}`,
    type: 'something.old',
    created: 1000,
    receivedAt: old(),
    handled: true,
    outcome: 'applied',
    payload: '{}',
    ...entry,
  }));
  await running.app.db.insert(paymentEvents).values(rows);
}

const left = (invoiceId: string) => running.app.db.$count(paymentEvents, eq(paymentEvents.invoiceId, invoiceId));

test('only events that no longer decide anything are deleted, and no projection changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.nat(100),
      fc.integer({ min: 1, max: 9 }),
      async ({ events }, answeredAfter, pageSize) => {
        const subscriptionId = `sub_${newId(running.app.now())}`;
        await keep(
          events.map(({ created, object, previous }) => ({
            subscriptionId,
            created,
            statusClass: eventClassOf({ statusClass: statusClassOf(String(object.status)) }, previous),
            payload: JSON.stringify({ data: { object, previous_attributes: previous } }),
          })),
        );
        // One projection from events alone, one with a provider's answer that ended a run of failed payments.
        const numbers = await running.app.db
          .select({ number: paymentEvents.number })
          .from(paymentEvents)
          .where(eq(paymentEvents.subscriptionId, subscriptionId))
          .orderBy(paymentEvents.number);
        const settledNumbers = [0, numbers[answeredAfter % numbers.length]?.number ?? 0];
        async function projections() {
          const read = settledNumbers.map((settled) =>
            readProjectionInput(running.app.db, subscriptionId, { settledNumber: settled }),
          );
          return (await Promise.all(read)).map(({ events }, at) => project(events, settledNumbers[at]));
        }
        const before = await projections();
        await deleteOldEvents(running.app, { pageSize });
        expect(await projections()).toEqual(before);
      },
    ),
    { numRuns: 60 },
  );
});

test('old events are deleted, new ones are not', async () => {
  await keep([{ invoiceId: 'in_old' }, { invoiceId: 'in_new', receivedAt: running.app.now() }]);
  expect(await deleteOldEvents(running.app)).toBeGreaterThan(0);
  expect([await left('in_old'), await left('in_new')]).toEqual([0, 1]);
});

test('every old event is read once, including events of equal time and events that are kept', async () => {
  const { app } = running;
  await app.sql`delete from payment_events`;
  const problem = { type: 'invoice.payment_failed' };
  await keep(Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? {} : { ...problem, invoiceId: `in_kept_${at}` })));
  // The times differ in microseconds, which a Date does not hold.
  await app.sql`update payment_events set received_at = received_at + number % 7 * interval '1 microsecond'`;

  const statements: number[] = [];
  const execute: App['db']['execute'] = (query) => {
    statements.push(1);
    return app.db.execute(query);
  };
  const db = new Proxy(app.db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name)) });
  expect(await deleteOldEvents({ ...app, db }, { pageSize: 5 })).toBe(20);
  expect(await app.db.$count(paymentEvents)).toBe(20);
  // 40 rows make eight full pages and an empty one; checkouts and leases take one statement each.
  expect(statements).toHaveLength(11);
});

test('payloads are stripped although the deletion fails', async () => {
  const { app } = running;
  await app.sql`delete from payment_events`;
  await keep([{ invoiceId: 'in_whole', payload: '{"data":{"object":{"customer_name":"Mia"}}}' }]);
  await app.sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`;
  await app.sql`create trigger refused before delete on payment_events for each row execute function refuse()`;

  await expect(billingJobs({ app, scheduled: app })['payment-sweep'].handler({}, 'job')).rejects.toThrow();
  const [event] = await app.db.select().from(paymentEvents);
  expect(event?.payload).not.toContain('Mia');

  await app.sql`drop trigger refused on payment_events`;
  await app.sql`drop function refuse`;
});

test('an event that the provider may send again is kept, however short RETENTION_DAYS is', async () => {
  const short = { ...running.app, config: { ...running.app.config, retentionDays: 1 } };
  const daysAgo = (days: number) => new Date(running.app.now().getTime() - days * dayMilliseconds);
  await keep([
    { invoiceId: 'in_again', type: 'invoice.payment_failed', receivedAt: daysAgo(29) },
    { invoiceId: 'in_again', type: 'invoice.paid', receivedAt: daysAgo(29) },
    { invoiceId: 'in_over', receivedAt: daysAgo(32) },
  ]);
  for (let run = 0; run < 2; run++) await deleteOldEvents(short);
  // Without the earlier events, a failure that the provider sends again would be an open problem.
  expect([await left('in_again'), await left('in_over')]).toEqual([2, 0]);
});

test('an open payment problem is kept, and a closed one never reappears', async () => {
  await keep([
    { invoiceId: 'in_open', type: 'invoice.payment_failed' },
    { invoiceId: 'in_settled', type: 'invoice.payment_failed' },
    { invoiceId: 'in_settled', type: 'invoice.paid' },
  ]);
  await deleteOldEvents(running.app);
  expect([await left('in_open'), await left('in_settled')]).toEqual([1, 1]);
  await deleteOldEvents(running.app);
  expect([await left('in_open'), await left('in_settled')]).toEqual([1, 0]);
});
