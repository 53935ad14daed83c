import { eq, gt } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, testClient } from '../../testing/factories.ts';
import { readSession, startSession } from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function start() {
  const { userId, organisationId } = await makeOwner(test);
  return { userId, organisationId, id: await startSession(test.app, { userId, organisationId, client: testClient }) };
}

it('a user has at most fifty sessions, also after parallel sign-ins, and the oldest end', async () => {
  const made = await start();
  test.advance(1000);
  const other = await start();
  const later = await Promise.all(
    Array.from({ length: 49 }, () => startSession(test.app, { ...made, client: testClient })),
  );
  const countExisting = async (ids: string[]) => {
    const found = await Promise.all(ids.map((id) => readSession(test.app, id)));
    return found.filter((principal) => principal !== null).length;
  };
  // The owner's first session was started by makeOwner, before the one of this test.
  expect(await test.app.db.$count(sessions, eq(sessions.userId, made.userId))).toBe(50);
  expect(await countExisting([made.id, ...later])).toBe(50);

  test.advance(1000);
  const last = await Promise.all(
    Array.from({ length: 30 }, () => startSession(test.app, { ...made, client: testClient })),
  );
  expect(await test.app.db.$count(sessions, eq(sessions.userId, made.userId))).toBe(50);
  expect(await countExisting(last)).toBe(30);
  expect(await countExisting(later)).toBe(20);
  expect(await countExisting([made.id])).toBe(0);
  expect(await countExisting([other.id])).toBe(1);
});

it('does not count expired sessions, and deletes those of the user who signs in', async () => {
  const late = await startTestApp();
  const { userId, organisationId } = await makeOwner(late);
  const begin = () => startSession(late.app, { userId, organisationId, client: testClient });
  const used = await begin();
  late.advance(20 * dayMilliseconds);
  await readSession(late.app, used);
  for (let count = 0; count < 48; count++) await begin();
  await late.app.db
    .update(sessions)
    .set({ expiresAt: late.app.now() })
    .where(gt(sessions.createdAt, new Date(late.app.now().getTime() - dayMilliseconds)));

  await begin();
  expect(await readSession(late.app, used)).not.toBeNull();
  // The one of making the owner, the one that was used, and the new one.
  expect(await late.app.db.$count(sessions, eq(sessions.userId, userId))).toBe(3);
  await late.close();
});
