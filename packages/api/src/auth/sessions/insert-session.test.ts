import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEvents } from '../../platform/db/schema/audit.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, testClient } from '../../testing/factories.ts';
import { lockUser } from '../profile/lock-user.ts';
import { startSession } from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('locks the user before the organisation, as every transaction does', async () => {
  const { app } = test;
  const { userId, organisationId } = await makeOwner(test);
  const countWaiting = () =>
    app.sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

  let started: Promise<string> | undefined;
  await app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    started = startSession(app, { userId, organisationId, client: testClient });
    await expect.poll(async () => (await countWaiting()).count).toBe(1);
    // Fails if the waiting sign-in holds the organisation's row.
    await tx.execute(sql`select from ${organisations} where id = ${organisationId} for update nowait`);
  });
  await expect(started).resolves.toMatch(/./);
});

it('names no organisation that was deleted since the user proved the credentials', async () => {
  const { app } = test;
  const { userId, organisationId } = await makeOwner(test);
  await app.db.delete(sessions).where(eq(sessions.userId, userId));
  await app.db.delete(organisations).where(eq(organisations.id, organisationId));

  await startSession(app, { userId, organisationId, browserHash: 'a hash', client: testClient });
  const [started] = await app.db.select().from(sessions).where(eq(sessions.userId, userId));
  const [recorded] = await app.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.userId, userId))
    .orderBy(sql`at desc, id desc`);
  expect(started).toMatchObject({ organisationId: null, client: testClient.address });
  expect(recorded).toMatchObject({ action: 'signed-in', actorId: userId, organisationId: null });
});
