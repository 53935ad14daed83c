import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import {
  approveOwner,
  createPasswordLink,
  declineOwner,
  restoreOrganisation,
  restoreUser,
  suspendOrganisation,
  suspendUser,
} from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { callerFor, linkSubject, makeOwner, signInAs, testClient, testPassword } from '../../testing/factories.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const other = 'quite another pass phrase';

function signIn(email: string, password: string) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

function tokenOf(link: string): string {
  return new URL(link).searchParams.get('token') ?? '';
}

it('changes the password of a user who enters the current one, and ends the other sessions', async () => {
  const { api, email, userId, organisationId } = await makeOwner(test);
  const elsewhere = await startSession(test.app, { userId, organisationId, client: testClient });

  expect(await api.accounts.changePassword({ current_password: testPassword, password: other })).toMatchObject({
    ok: true,
  });
  expect(await readSession(test.app, elsewhere)).toBeNull();
  expect((await api.accounts.profile()).sessions).toHaveLength(1);
  await signIn(email, other);
  await expect(signIn(email, testPassword)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

it('changes nothing if the current password is wrong', async () => {
  const { api, email } = await makeOwner(test);
  await expect(
    api.accounts.changePassword({ current_password: 'not the pass phrase', password: other }),
  ).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED', fields: { current_password: expect.any(String) } } });
  await signIn(email, testPassword);
});

it('checks a new password as at sign-up', async () => {
  const { api, email } = await makeOwner(test);
  for (const password of ['short', 'password123', email]) {
    await expect(api.accounts.changePassword({ current_password: testPassword, password })).rejects.toMatchObject({
      cause: { code: 'VALIDATION', fields: { password: expect.any(String) } },
    });
  }
});

it('sets a first password only in a fresh session', async () => {
  const late = await startTestApp();
  const { email, userId } = await makeOwner(late);
  await late.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  const { api } = await signInAs(late, email);

  late.advance(16 * 60_000);
  await expect(api.accounts.setFirstPassword({ password: other })).rejects.toMatchObject({
    cause: { code: 'FRESH_SIGN_IN_REQUIRED' },
  });
  const again = await signInAs(late, email);
  await again.api.accounts.setFirstPassword({ password: other });
  await expect(again.api.accounts.setFirstPassword({ password: 'a third pass phrase' })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  await signInWithPassword(late.app, { email, password: other }, testClient);
  await late.close();
});

/** An owner with a password and a recent sign-in through the identity provider. */
async function throughProvider(at: TestApp) {
  const { email, userId } = await makeOwner(at);
  const subject = `subject of ${email}`;
  await linkSubject(at, userId, subject);
  return { ...(await signInAs(at, email, { idpSubject: subject })), subject };
}

it('replaces a lost password after a recent sign-in through the identity provider', async () => {
  const late = await startTestApp();
  const { api, email, subject } = await throughProvider(late);
  const elsewhere = await signInAs(late, email);
  expect((await api.accounts.profile()).user).toMatchObject({ has_password: true, may_set_password: true });

  await api.accounts.setFirstPassword({ password: other });
  await signInWithPassword(late.app, { email, password: other }, testClient);
  expect((await api.accounts.profile()).sessions).toHaveLength(1);
  await expect(elsewhere.api.accounts.setFirstPassword({ password: 'a third pass phrase' })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });

  const again = await signInAs(late, email, { idpSubject: subject });
  late.advance(16 * 60_000);
  expect((await again.api.accounts.profile()).user.may_set_password).toBe(false);
  await expect(again.api.accounts.setFirstPassword({ password: 'a third pass phrase' })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  await late.close();
});

it('requires the current password while a review asks whether the identity is the user’s own', async () => {
  const { api, userId } = await throughProvider(test);
  await test.app.db.update(users).set({ reviewSince: test.app.now() }).where(eq(users.id, userId));
  expect((await api.accounts.profile()).user.may_set_password).toBe(false);
  await expect(api.accounts.setFirstPassword({ password: other })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
});

it('requires the current password after a sign-in by password, and by a provider that was unlinked since', async () => {
  const { api, email } = await throughProvider(test);
  const byPassword = await signInAs(test, email);
  const refused = { cause: { code: 'VALIDATION', message: 'There is a password already. Change it instead.' } };
  expect((await byPassword.api.accounts.profile()).user.may_set_password).toBe(false);
  await expect(byPassword.api.accounts.setFirstPassword({ password: other })).rejects.toMatchObject(refused);

  await byPassword.api.accounts.unlinkIdentity({ password: testPassword });
  await expect(api.accounts.setFirstPassword({ password: other })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  await signIn(email, testPassword);
});

it('sets no password for a session that another change of the password has ended', async () => {
  const { api, email, userId } = await throughProvider(test);
  const owner = await signInAs(test, email);
  const racing = await test.app.db.transaction(async (tx) => {
    await tx.select().from(users).where(eq(users.id, userId)).for('update');
    const change = owner.api.accounts.changePassword({ current_password: testPassword, password: other });
    await waitingForLocks(test, 1);
    const set = api.accounts.setFirstPassword({ password: 'a third pass phrase' });
    void Promise.allSettled([change, set]);
    await waitingForLocks(test, 2);
    return { change, set };
  });
  await racing.change;
  await expect(racing.set).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  await signIn(email, other);
});

it('unlinks the identity provider only while a password remains', async () => {
  const { api, userId } = await makeOwner(test);
  const unlink = (password: string) => api.accounts.unlinkIdentity({ password });
  await expect(unlink(testPassword)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });

  await linkSubject(test, userId, 'unlinked-subject');
  await expect(unlink('not the pass phrase')).rejects.toMatchObject({ cause: { code: 'UNAUTHENTICATED' } });
  expect((await api.accounts.profile()).user.idp_linked).toBe(true);
  await unlink(testPassword);
  expect((await api.accounts.profile()).user.idp_linked).toBe(false);

  await linkSubject(test, userId, 'only-way-in');
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  await expect(unlink(testPassword)).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
});

it('lets a password link of an operator set the password once, end all sessions and open none', async () => {
  const { email, userId, organisationId } = await makeOwner(test);
  const session = await startSession(test.app, { userId, organisationId, client: testClient });
  const first = tokenOf(await createPasswordLink(test.app, email));
  const second = tokenOf(await createPasswordLink(test.app, email));
  const { accounts } = callerFor(test, null);

  await expect(accounts.setPassword({ token: first, password: other })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  await expect(accounts.setPassword({ token: second, password: 'short' })).rejects.toMatchObject({
    cause: { fields: { password: expect.any(String) } },
  });
  const ended = await Promise.allSettled(
    Array.from({ length: 20 }, () => accounts.setPassword({ token: second, password: other })),
  );
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await readSession(test.app, session)).toBeNull();
  await signIn(email, other);
});

it.each<[string, (made: Awaited<ReturnType<typeof makeOwner>>) => Promise<unknown>, boolean]>([
  [
    'suspended user',
    async ({ email }) => {
      await suspendUser(test.app, email);
      await restoreUser(test.app, email);
    },
    true,
  ],
  [
    'user of a suspended organisation',
    async ({ principal }) => {
      await suspendOrganisation(test.app, principal.organisation?.slug ?? '');
      await restoreOrganisation(test.app, principal.organisation?.slug ?? '');
    },
    true,
  ],
  [
    'declined user',
    async ({ email }) => {
      await declineOwner(test.app, email, 'Not a customer.');
      await approveOwner(test.app, email);
    },
    false,
  ],
])('keeps a password link of a %s invalid after the account is opened again', async (_, close, approved) => {
  const made = await makeOwner(test, { approved });
  const token = tokenOf(await createPasswordLink(test.app, made.email));
  await close(made);
  await expect(callerFor(test, null).accounts.setPassword({ token, password: other })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
});

it('sets no password for an account that is closed while the new one is hashed', async () => {
  const { email, userId } = await makeOwner(test);
  const token = tokenOf(await createPasswordLink(test.app, email));
  const racing = await test.app.db.transaction(async (tx) => {
    await tx.update(users).set({ suspendedAt: test.app.now() }).where(eq(users.id, userId));
    const set = callerFor(test, null).accounts.setPassword({ token, password: other });
    void set.catch(() => {});
    await waitingForLocks(test, 1);
    return { set };
  });
  await expect(racing.set).rejects.toMatchObject({ cause: { code: 'VALIDATION' } });
  await restoreUser(test.app, email);
  await signIn(email, testPassword);
});

it('expires a password link after an hour', async () => {
  const late = await startTestApp();
  const { email } = await makeOwner(late);
  const token = tokenOf(await createPasswordLink(late.app, email));
  late.advance(60 * 60_000 + 1000);
  await expect(callerFor(late, null).accounts.setPassword({ token, password: other })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  await late.close();
});
