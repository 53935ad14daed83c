import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSession, startSession } from '../auth/sessions/session.ts';
import { paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { addMember, callerFor, decideNow, makeOwner, testClient } from '../testing/factories.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Verifies a session as a product does: it is read again for each call. */
async function ask(id: string) {
  return callerFor(test, await readSession(test.app, id)).sessions.verify();
}

async function start(made: { userId: string; organisationId: string }) {
  return startSession(test.app, { userId: made.userId, organisationId: made.organisationId, client: testClient });
}

async function subscribe(organisationId: string, status: string) {
  const row = { id: `sub_${organisationId}`, organisationId, customerId: 'customer', status, tier: 'gold' as const };
  await test.app.db
    .insert(paymentSubscriptions)
    .values({ ...row, startedAt: test.app.now() })
    .onConflictDoUpdate({ target: paymentSubscriptions.id, set: { status } });
  await decideNow(test.app, organisationId);
}

it('returns the user, organisation, plan, role and scopes', async () => {
  const { email, userId, organisationId } = await makeOwner(test, { name: 'Larch & Sons' });
  const answer = await ask(await start({ userId, organisationId }));
  expect(answer).toEqual({
    user: { id: userId, email, name: null },
    organisation: { id: organisationId, slug: expect.any(String), name: 'Larch & Sons', tier: 'free' },
    role: 'owner',
    scopes: ['READ', 'WRITE', 'ADMIN'],
  });
});

it('returns a changed plan, role and organisation with the next request', async () => {
  const { organisationId } = await makeOwner(test);
  const member = await addMember(test, organisationId, 'member');
  const id = await start(member);

  await subscribe(organisationId, 'active');
  expect((await ask(id)).organisation?.tier).toBe('gold');
  await subscribe(organisationId, 'canceled');
  expect((await ask(id)).organisation?.tier).toBe('free');

  await test.app.db.update(memberships).set({ role: 'viewer' }).where(eq(memberships.userId, member.userId));
  expect(await ask(id)).toMatchObject({ role: 'viewer', scopes: ['READ'] });

  await test.app.db.delete(memberships).where(eq(memberships.userId, member.userId));
  await expect(ask(id)).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
});

it('answers 401 without a session and for the suspended, 403 while the account awaits approval', async () => {
  await expect(ask('unknown')).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });

  const owner = await makeOwner(test);
  const id = await start(owner);
  await test.app.db
    .update(organisations)
    .set({ approval: 'pending' })
    .where(eq(organisations.id, owner.organisationId));
  await expect(ask(id)).rejects.toMatchObject({ cause: { code: 'AWAITING_APPROVAL' } });
  await suspendUser(test.app, owner.email);
  await expect(ask(id)).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
});

it('runs one statement, which the database has parsed before', async () => {
  const { sql } = test.app;
  const id = await start(await makeOwner(test));
  // One after the other, because requests of one turn share another statement. The driver uses its connections in turn.
  for (let time = 0; time < 3 * sql.options.max; time++) await ask(id);
  const before = await runsOfPrepared();

  const asked: string[] = [];
  sql.options.debug = (_, statement) => void asked.push(statement);
  await ask(id);
  sql.options.debug = false;
  const after = await runsOfPrepared();

  expect(asked).toHaveLength(1);
  const [statement = ''] = asked;
  expect(after.get(statement)?.known).toBe(before.get(statement)?.known);
  expect(after.get(statement)?.runs).toBe((before.get(statement)?.runs ?? Number.NaN) + 1);
});

/** Counts, for each prepared statement, the connections that know it and its runs. */
async function runsOfPrepared(): Promise<Map<string, { known: number; runs: number }>> {
  const { sql } = test.app;
  const held = await Promise.all(Array.from({ length: sql.options.max }, () => sql.reserve()));
  const found = new Map<string, { known: number; runs: number }>();
  for (const connection of held) {
    const rows = await connection.unsafe<{ statement: string; runs: number }[]>(
      'select statement, (generic_plans + custom_plans)::int as runs from pg_prepared_statements',
    );
    for (const { statement, runs } of rows) {
      const { known, runs: others } = found.get(statement) ?? { known: 0, runs: 0 };
      found.set(statement, { known: known + 1, runs: others + runs });
    }
  }
  for (const connection of held) connection.release();
  return found;
}
