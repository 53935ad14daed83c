import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../platform/db/id.ts';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { stripEvents, stripOldEvents } from './strip-events.ts';

let test: TestApp;
let organisationId: string;
beforeAll(async () => {
  test = await startTestApp({ work: false });
  organisationId = newId(test.app.now());
  const row = { id: organisationId, slug: `o-${organisationId}`, createdAt: test.app.now() };
  await test.app.db.insert(organisations).values(row);
});
afterAll(() => test.close());

const page = 'https://pay.example/i/1';
const payload = JSON.stringify({
  data: { object: { customer_name: 'Mia', hosted_invoice_url: page, status: 'open' } },
});

type Entry = Partial<typeof paymentEvents.$inferInsert>;
async function keep(days: number, entry: Entry = {}): Promise<string> {
  const now = test.app.now();
  const id = `evt_${newId(now)}`;
  const receivedAt = new Date(now.getTime() - days * dayMilliseconds);
  const row = { id, type: 'invoice.paid', created: 1000, receivedAt, handled: true, outcome: 'applied', payload };
  await test.app.db.insert(paymentEvents).values({ ...row, organisationId, ...entry });
  return id;
}

async function payloadOf(id: string): Promise<string | undefined> {
  const [row] = await test.app.db.select().from(paymentEvents).where(eq(paymentEvents.id, id));
  return row?.payload;
}

it('the payload of an event is stripped after 120 days, once, and not before', async () => {
  const [old, young] = [await keep(121), await keep(119)];

  expect(await stripOldEvents(test.app)).toBe(1);
  expect(await payloadOf(old)).not.toContain('Mia');
  expect(await payloadOf(old)).toContain('"status":"open"');
  expect(await payloadOf(young)).toBe(payload);
  expect(await stripOldEvents(test.app)).toBe(0);
});

it('an event of an invoice that is still open keeps its payload until the invoice is closed', async () => {
  const problem = await keep(200, { type: 'invoice.payment_failed', invoiceId: 'in_1' });
  await stripOldEvents(test.app);
  expect(await payloadOf(problem)).toBe(payload);

  await keep(1, { type: 'invoice.paid', invoiceId: 'in_1' });
  expect(await stripOldEvents(test.app)).toBe(1);
  expect(await payloadOf(problem)).not.toMatch(/Mia|pay\.example/);
});

it('events of no organisation are stripped after a day: they may name an erased user', async () => {
  const [old, young] = [await keep(1.1, { organisationId: null }), await keep(0.9, { organisationId: null })];
  expect(await stripOldEvents(test.app)).toBe(1);
  expect(await payloadOf(old)).not.toContain('Mia');
  expect(await payloadOf(young)).toBe(payload);
});

it('an erasure leaves the page of an open invoice, and the rest of it is stripped once the invoice is closed', async () => {
  const { app } = test;
  const problem = await keep(200, { type: 'invoice.payment_failed', invoiceId: 'in_2' });
  await app.db.transaction((tx) => stripEvents(app, tx, eq(paymentEvents.id, problem)));
  expect(await payloadOf(problem)).toContain(page);
  expect(await payloadOf(problem)).not.toContain('Mia');
  await keep(1, { type: 'invoice.paid', invoiceId: 'in_2' });
  await stripOldEvents(app);
  expect(await payloadOf(problem)).not.toContain(page);
});

it('the events of one second are stripped together, and more events than one step takes', async () => {
  const subscription = { subscriptionId: 'sub_1', created: 2000, statusClass: 'other' as const };
  const late = await keep(1, subscription);
  const old = await keep(121, subscription);
  for (let count = 0; count < 205; count++) await keep(130);

  expect(await stripOldEvents(test.app)).toBe(206);
  const marks = [await payloadOf(late), await payloadOf(old)].map(
    (text) => /"customer_name":"([^"]+)"/.exec(text ?? '')?.[1],
  );
  expect(marks[0]).toMatch(/^\(removed /);
  expect(marks[1]).toBe(marks[0]);
});
