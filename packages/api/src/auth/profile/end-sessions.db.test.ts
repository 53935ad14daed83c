import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { startTestApp } from '../../testing/app.ts';
import { makeOwner, signInAs, testClient, testPassword } from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';

it('asks for the password to end other sessions where the session is not fresh', async () => {
  const late = await startTestApp();
  const { api, userId, organisationId, principal } = await makeOwner(late);
  const session = () => startSession(late.app, { userId, organisationId, client: testClient });
  const nameOf = async (id: string) => (await readSession(late.app, id))?.sessionId ?? '';
  const fresh = await session();
  expect((await api.accounts.profile()).user.fresh_sign_in).toBe(true);
  await api.accounts.endSession({ id: await nameOf(fresh) });

  late.advance(16 * 60_000);
  expect((await api.accounts.profile()).user.fresh_sign_in).toBe(false);
  const [one, two] = [await session(), await session()];
  const id = await nameOf(one);
  const ways = [
    (password?: string) => api.accounts.endSession({ id, ...(password && { password }) }),
    (password?: string) => api.accounts.endOtherSessions({ ...(password && { password }) }),
  ];
  for (const end of ways) {
    await expect(end()).rejects.toMatchObject({
      cause: { code: 'FRESH_SIGN_IN_REQUIRED' },
    });
    await expect(end('not the pass phrase')).rejects.toMatchObject({
      cause: { code: 'UNAUTHENTICATED', fields: { password: expect.any(String) } },
    });
    expect([await readSession(late.app, one), await readSession(late.app, two)]).not.toContain(null);
  }
  for (const end of ways) await end(testPassword);
  expect([await readSession(late.app, one), await readSession(late.app, two)]).toEqual([null, null]);

  // Ending the current session needs no password: it is a sign-out.
  await api.accounts.endSession({ id: principal.sessionId });
  await late.close();
});

it('asks an account without a password to sign in again before it ends other sessions', async () => {
  const late = await startTestApp();
  const { email, userId } = await makeOwner(late);
  await late.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  const { api } = await signInAs(late, email);
  late.advance(16 * 60_000);
  await expect(api.accounts.endOtherSessions({})).rejects.toMatchObject({ cause: { code: 'FRESH_SIGN_IN_REQUIRED' } });
  await (await signInAs(late, email)).api.accounts.endOtherSessions();
  await late.close();
});

it('ends no session of a user by one that a new password ended meanwhile', async () => {
  const test = await startTestApp({ work: false });
  const { api, email, principal } = await makeOwner(test);
  const thief = await signInAs(test, email);
  await api.accounts.changePassword({ current_password: testPassword, password: 'quite another pass phrase' });
  const ways = [thief.api.accounts.endSession({ id: principal.sessionId }), thief.api.accounts.endOtherSessions()];
  for (const way of ways) await expect(way).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
  expect((await api.accounts.profile()).sessions).toMatchObject([{ id: principal.sessionId }]);
  await test.close();
});
