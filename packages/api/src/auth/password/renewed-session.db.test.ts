import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, linkSubject, makeOwner, testClient, testPassword } from '../../testing/factories.ts';
import { readSession, readSharedSession, shareSession, startSession } from '../sessions/session.ts';

const other = 'quite another pass phrase';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** The router as a browser's session calls it, with the newest token that the browser was given. */
async function browserOf(at: TestApp, holder: Parameters<typeof startSession>[1]) {
  let id = await startSession(at.app, holder);
  const principal = await readSession(at.app, id);
  const renew = async (renewed: string) => {
    id = renewed;
  };
  return { api: callerFor(at, principal, { session: { renew } }), principal, current: () => id };
}

it('gives the session that changes the password a new token, and keeps the rest of it', async () => {
  const { userId, organisationId } = await makeOwner(test);
  const browser = await browserOf(test, { userId, organisationId, client: testClient });
  const before = browser.current();
  const shared = await shareSession(test.app, before);

  await browser.api.accounts.changePassword({ current_password: testPassword, password: other });
  expect(browser.current()).not.toBe(before);
  expect(await readSession(test.app, before)).toBeNull();
  expect(await readSharedSession(test.app, shared)).toBeNull();
  expect(await readSession(test.app, browser.current())).toMatchObject({ sessionId: browser.principal?.sessionId });
});

it('gives the session that sets a first password a new token, and keeps the time of its sign-in', async () => {
  const late = await startTestApp();
  const { userId, organisationId, email } = await makeOwner(late);
  const idpSubject = `subject of ${email}`;
  await late.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  await linkSubject(late, userId, idpSubject);
  const browser = await browserOf(late, { userId, organisationId, idpSubject, client: testClient });
  const before = browser.current();
  late.advance(10 * 60_000);
  await browser.api.accounts.setFirstPassword({ password: other });
  expect(await readSession(late.app, before)).toBeNull();
  expect(await readSession(late.app, browser.current())).not.toBeNull();

  late.advance(6 * 60_000);
  await expect(browser.api.accounts.setFirstPassword({ password: 'a third pass phrase' })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  await late.close();
});
