import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readEntitlements } from '../../billing/summary/read-entitlements.ts';
import { readPlan } from '../../organisations/plan.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { usage } from '../../platform/db/schema/usage.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, decideNow, makeOwner, testClient } from '../../testing/factories.ts';
import { readSession, startSession } from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function start() {
  const owner = await makeOwner(test);
  const { userId, organisationId } = owner;
  return { ...owner, id: await startSession(test.app, { userId, organisationId, client: testClient }) };
}

/** Inserts a live subscription to gold, and newer ones to silver that have ended. */
async function subscribe(organisationId: string, ended: number) {
  const before = (days: number) => new Date(test.app.now().getTime() - days * dayMilliseconds);
  const rows = Array.from({ length: ended + 1 }, (_, at) => ({
    id: `sub_${newId(test.app.now())}`,
    organisationId,
    customerId: 'customer',
    status: at === 0 ? 'active' : 'canceled',
    ended: at > 0,
    tier: at === 0 ? ('gold' as const) : ('silver' as const),
    startedAt: before(100 - at),
    currentPeriodEnd: before(-30.123_456),
  }));
  await test.app.db.insert(paymentSubscriptions).values(rows);
  await decideNow(test.app, organisationId);
}

/** Counts the statements that the pool sends meanwhile. */
async function statementsOf(act: () => Promise<unknown>): Promise<number> {
  const { options } = test.app.sql;
  let sent = 0;
  options.debug = () => void sent++;
  await act();
  options.debug = false;
  return sent;
}

it.each([0, 9, 40])('reads the plan of an organisation with %i ended subscriptions by one statement', async (ended) => {
  const { id, organisationId } = await start();
  await subscribe(organisationId, ended);
  expect(await statementsOf(() => readSession(test.app, id))).toBe(1);

  const principal = await readSession(test.app, id);
  const plan = await readPlan(test.app, organisationId);
  const summary = await callerFor(test, principal).subscription.read();
  expect(plan).toMatchObject({ tier: 'gold', subscription: { status: 'active' } });
  expect(summary.plan).toMatchObject({
    tier: 'gold',
    status: 'active',
    current_period_end: plan.subscription?.currentPeriodEnd?.toISOString(),
  });
});

it('reads no plan for an organisation without a subscription', async () => {
  const { id, organisationId } = await start();
  expect(await readSession(test.app, id)).toMatchObject({ organisationId, planRow: null });
});

it('the summary has the same usage as entitlements, by one more statement', async () => {
  const { id, organisationId } = await start();
  await subscribe(organisationId, 3);
  const since = new Date(Date.UTC(test.app.now().getUTCFullYear(), test.app.now().getUTCMonth(), 1));
  await test.app.db.insert(usage).values({ organisationId, meter: 'api_calls', since, used: 17 });

  const principal = () => readSession(test.app, id);
  const read = async () => callerFor(test, await principal()).subscription.read();
  expect(await statementsOf(read)).toBe(2);
  const { usage: meters } = await read();
  expect(meters).toContainEqual(expect.objectContaining({ meter: 'api_calls', used: 17 }));
  expect(meters).toContainEqual(expect.objectContaining({ meter: 'members', used: 1 }));
  const entitlements = await readEntitlements(test.app, (await principal()) as never, { organisation: organisationId });
  expect(meters).toEqual(entitlements.usage);
});

it.each<[string, (organisationId: string, userId: string) => Promise<unknown>]>([
  ['was suspended', (id) => change(id, { suspendedAt: test.app.now() })],
  ['awaits approval again', (id) => change(id, { approval: 'pending' })],
  ['lost the user', (id) => test.app.db.delete(memberships).where(eq(memberships.organisationId, id))],
  ['was deleted', (id) => test.app.db.delete(organisations).where(eq(organisations.id, id))],
])('acts for another approved organisation from the next request on, where its own %s', async (_, end) => {
  const { id, userId, organisationId } = await start();
  const other = await makeOwner(test);
  await test.app.db
    .insert(memberships)
    .values({ userId, organisationId: other.organisationId, role: 'viewer', createdAt: test.app.now() });
  expect(await readSession(test.app, id)).toMatchObject({ organisationId, role: 'owner' });

  await end(organisationId, userId);
  expect(await readSession(test.app, id)).toMatchObject({
    organisationId: other.organisationId,
    role: 'viewer',
    scopes: ['READ'],
  });
});

function change(id: string, set: Partial<typeof organisations.$inferInsert>) {
  return test.app.db.update(organisations).set(set).where(eq(organisations.id, id));
}

it('each of the requests of one turn gets its own session, with the plan of its organisation', async () => {
  const owners = await Promise.all(Array.from({ length: 6 }, () => start()));
  for (const { organisationId } of owners.slice(0, 3)) await subscribe(organisationId, 2);
  const asked = Array.from({ length: 40 }, (_, at) => owners[(at * 5) % 7]);
  const read = await Promise.all(asked.map((owner, _at) => readSession(test.app, owner?.id ?? 'unknown')));
  for (const [at, owner] of asked.entries()) {
    const isSubscribed = owner !== undefined && owners.indexOf(owner) < 3;
    expect(read[at]?.user.id).toBe(owner?.userId);
    expect(read[at]?.organisationId).toBe(owner?.organisationId);
    expect(read[at]?.planRow?.tier ?? null).toBe(isSubscribed ? 'gold' : null);
  }
});

it('PostgreSQL keeps its plan of the statement, however many requests share it', async () => {
  const { id } = await start();
  for (let round = 0; round < 120; round++) {
    const together = Array.from({ length: 1 + (round % 8) }, () => readSession(test.app, id));
    await Promise.all(together);
  }
  const ofConnection = () => test.app.sql<{ statement: string; kept: number; planned: number }[]>`
    select statement, generic_plans::int as kept, custom_plans::int as planned, pg_sleep(0.02)
    from pg_prepared_statements where statement like '%asked."hash"%' and generic_plans + custom_plans > 5`;
  const all = (await Promise.all(Array.from({ length: 10 }, ofConnection))).flat();
  expect(all.length).toBeGreaterThan(0);
  for (const each of all) expect(each).toMatchObject({ planned: 5 });
});
