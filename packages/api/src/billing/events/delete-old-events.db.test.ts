import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../platform/db/id.ts';
import { paymentEvents, paymentInvoices } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember } from '../../testing/billing.ts';
import { billingJobs } from '../sync/jobs.ts';
import { deleteOldEvents, dropOldPayloads } from './delete-old-events.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

const daysAgo = (days: number) => new Date(running.app.now().getTime() - days * dayMilliseconds);
const old = () => daysAgo(401);

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

test('old events are deleted, new ones are not', async () => {
  await keep([{ invoiceId: 'in_old' }, { invoiceId: 'in_new', receivedAt: running.app.now() }]);
  await deleteOldEvents(running.app);
  expect([await left('in_old'), await left('in_new')]).toEqual([0, 1]);
});

test('payloads are dropped although the deletion fails', async () => {
  const { app } = running;
  await app.sql`delete from payment_events`;
  await keep([{ invoiceId: 'in_whole', payload: '{"data":{"object":{"customer_name":"Mia"}}}' }]);
  await app.sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`;
  await app.sql`create trigger refused before delete on payment_events for each row execute function refuse()`;

  await expect(billingJobs({ app, scheduled: app })['payment-sweep'].handler({}, 'job')).rejects.toThrow();
  const [event] = await app.db.select().from(paymentEvents);
  expect(event?.payload).toBeNull();

  await app.sql`drop trigger refused on payment_events`;
  await app.sql`drop function refuse`;
});

test('an event that the provider may send again is kept, however short RETENTION_DAYS is', async () => {
  const short = { ...running.app, config: { ...running.app.config, retentionDays: 1 } };
  await keep([
    { invoiceId: 'in_again', receivedAt: daysAgo(29) },
    { invoiceId: 'in_over', receivedAt: daysAgo(32) },
  ]);
  await deleteOldEvents(short);
  expect([await left('in_again'), await left('in_over')]).toEqual([1, 0]);
});

test('an open payment problem is kept, and a settled one as long as its failure may be sent again', async () => {
  const { app } = running;
  const { organisationId } = await makeMember(running);
  const noted = (days: number) => Math.floor(daysAgo(days).getTime() / 1000);
  await app.db.insert(paymentInvoices).values([
    { id: 'in_open', organisationId, problem: 'payment_failed', notedAt: noted(400) },
    { id: 'in_settled', organisationId, settled: true, notedAt: noted(29) },
    { id: 'in_over', organisationId, settled: true, notedAt: noted(32) },
  ]);
  await deleteOldEvents(app);
  const kept = await app.db.select({ id: paymentInvoices.id }).from(paymentInvoices).orderBy(paymentInvoices.id);
  expect(kept.map(({ id }) => id)).toEqual(['in_open', 'in_settled']);
});

test('payloads are dropped after 90 days, and those of no organisation after a day', async () => {
  const { organisationId } = await makeMember(running);
  const payload = '{"data":{"object":{"customer_name":"Mia"}}}';
  await keep([
    { id: 'evt_91_days', organisationId, payload, receivedAt: daysAgo(91) },
    { id: 'evt_89_days', organisationId, payload, receivedAt: daysAgo(89) },
    { id: 'evt_foreign', payload, receivedAt: daysAgo(2) },
    { id: 'evt_foreign_today', payload, receivedAt: daysAgo(0.5) },
  ]);
  await dropOldPayloads(running.app);
  const rows = await running.app.db.select().from(paymentEvents);
  const payloadOf = (id: string) => rows.find((row) => row.id === id)?.payload;
  expect([payloadOf('evt_91_days'), payloadOf('evt_foreign')]).toEqual([null, null]);
  expect([payloadOf('evt_89_days'), payloadOf('evt_foreign_today')]).toEqual([payload, payload]);
});
