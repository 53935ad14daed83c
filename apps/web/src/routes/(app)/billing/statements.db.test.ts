import type { Principal } from '@gatehouse/api/auth/principal';
import { type BillingTest, makeMember, makeSubscriber, startBillingTest } from '@gatehouse/api/testing/billing';
import { callerFor } from '@gatehouse/api/testing/factories';
import type { RequestEvent } from '@sveltejs/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { load } from './+page.server.ts';

let billing: BillingTest;
let administrator: Principal;
let viewer: Principal;
beforeAll(async () => {
  billing = await startBillingTest();
  const { principal, subscription } = await makeSubscriber(billing);
  administrator = principal;
  viewer = await makeMember(billing, 'viewer');
  billing.sandbox.payment.setCard(String(subscription.customer), '4000000000000341');
  billing.sandbox.payment.clock.advanceToPeriodEnd(subscription.id);
  await billing.settled();
  // The prices are read once per minute and process, and kept.
  await callerFor(billing, principal).subscription.read();
});
afterAll(() => billing.close());

/** The statements that the database receives while `act` runs, without those of the job queue and of a new connection. */
async function statementsOf(act: () => unknown): Promise<string[]> {
  const sent: string[] = [];
  const { options } = billing.app.sql;
  options.debug = (_, statement) => {
    if (!/pgboss|pg_catalog/.test(statement)) sent.push(statement);
  };
  try {
    await act();
  } finally {
    options.debug = false;
  }
  return sent;
}

function eventOf(principal: Principal): RequestEvent {
  const url = new URL('/billing', 'http://localhost:3999');
  const { app } = billing;
  const locals = { app, principal, requestId: 'test', api: callerFor(billing, principal) };
  return { request: new Request(url), url, locals } as RequestEvent;
}

test('after the session’s query, /billing sends five statements for an administrator: plan, notice, the history of all meters, and the invoices that are known and answered', async () => {
  const event = eventOf(administrator);
  let data: unknown;
  const sent = await statementsOf(async () => {
    data = await load(event as Parameters<typeof load>[0]);
  });
  expect(data).toMatchObject({ organisation: { notice: { kind: 'payment_failed' } } });
  expect(sent).toHaveLength(5);
  // Those that were just answered are not asked for again.
  expect(await statementsOf(() => load(event as Parameters<typeof load>[0]))).toHaveLength(4);
});

test('after the session’s query, /billing sends two statements for a viewer, who gets no notice', async () => {
  const event = eventOf(viewer);
  let data: unknown;
  const sent = await statementsOf(async () => {
    data = await load(event as Parameters<typeof load>[0]);
  });
  expect(data).toMatchObject({ organisation: { notice: null, invoices: null } });
  expect(sent).toHaveLength(2);
});

test('after the session’s query, GET /api/subscription runs one statement', async () => {
  expect(await statementsOf(() => callerFor(billing, administrator).subscription.read())).toHaveLength(1);
});
