import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditEvents } from '../db/schema.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner } from '../testing/makers.ts';
import { readActivity } from './read.ts';
import { record } from './record.ts';
import { sweepAudit } from './sweep.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('says who did what, when and from where', async () => {
  const { userId, api } = await makeOwner(test);
  await api.signIn.out();
  const activity = await readActivity(test.app.db, userId);
  expect(activity[0]).toMatchObject({ action: 'signed-out', text: 'Signed out', client: '127.0.0.1' });
  expect(activity.map(({ action }) => action)).toContain('address-verified');
});

it('lets nobody change or empty what is written down', async () => {
  const { userId } = await makeOwner(test);
  const refused = { cause: { message: 'audit_events is append-only' } };
  await expect(
    test.app.db.update(auditEvents).set({ action: 'nothing' }).where(eq(auditEvents.userId, userId)),
  ).rejects.toMatchObject(refused);
  await expect(test.app.db.execute(sql`truncate ${auditEvents}`)).rejects.toMatchObject(refused);
});

it('keeps entries for as long as it is told', async () => {
  const now = test.app.now();
  const old = new Date(now.getTime() - 401 * 86_400_000);
  const userId = crypto.randomUUID();
  await record(test.app.db, old, { action: 'signed-in', userId });
  await record(test.app.db, now, { action: 'signed-in', userId });
  await sweepAudit(test.app.db, now, 400);
  expect(await readActivity(test.app.db, userId)).toHaveLength(1);
});
