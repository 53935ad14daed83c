import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { declineOwner, suspendOrganisation, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { confirmPassword } from '../password/confirm-password.ts';
import { signInWithPassword } from './with-password.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

function signIn(email: string, password = testPassword) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

const refused = { code: 'UNAUTHENTICATED', message: 'E-mail or password is wrong.' };

it('accepts the address in any case and with surrounding space', async () => {
  const { email, userId, organisationId } = await makeOwner(test);
  expect(await signIn(` ${email.toUpperCase()} `)).toMatchObject({ userId, organisationId });
});

it('answers an unknown address, a wrong password and an unverified account alike', async () => {
  const { email } = await makeOwner(test);
  const { email: unverified } = await makeSignUp(test);

  await expect(signIn(newEmail())).rejects.toMatchObject(refused);
  await expect(signIn(email, 'not the pass phrase')).rejects.toMatchObject(refused);
  await expect(signIn(unverified)).rejects.toMatchObject(refused);
  await expect(signIn('nobody')).rejects.toMatchObject(refused);
});

it('signs in a user who awaits approval', async () => {
  const { email, principal } = await makeOwner(test, { approved: false });
  expect(await signIn(email)).toMatchObject({ userId: principal.user.id });
  expect(principal).toMatchObject({ accountStatus: 'awaiting_approval', scopes: [] });
});

it.each([
  ['declined', (email: string) => declineOwner(test.app, email, 'Not a customer.'), false, 'sign_in_declined'],
  ['suspended', (email: string) => suspendUser(test.app, email), true, 'sign_in_suspended'],
] as const)(
  'reveals that a %s account is closed, and to pages why, only for the right password',
  async (_, close, approved, id) => {
    const { email } = await makeOwner(test, { approved });
    await close(email);

    await expect(signIn(email)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This account is closed.',
      pageText: { id },
    });
    const wrong = signIn(email, 'not the pass phrase');
    await expect(wrong).rejects.toMatchObject({ ...refused, pageText: undefined });
  },
);

it('counts every wrong attempt, and none that failed for another reason', async () => {
  const limited = await startTestApp({ environment: { RATE_LIMITS: 'on' } });
  const { app } = limited;
  const { email, userId, principal } = await makeOwner(limited);
  const attempt = (password = testPassword) => signInWithPassword(app, { email, password }, testClient);
  const confirm = () => confirmPassword(app, principal, { field: 'password', password: testPassword }, testClient);
  const [user] = await app.db.select().from(users).where(eq(users.id, userId));

  await app.db.update(users).set({ passwordHash: 'no hash at all' }).where(eq(users.id, userId));
  for (let count = 0; count < 12; count++) {
    for (const each of [attempt, confirm]) await expect(each()).rejects.not.toMatchObject({ name: 'AppError' });
  }
  await app.db
    .update(users)
    .set({ passwordHash: user?.passwordHash ?? null })
    .where(eq(users.id, userId));
  await attempt();
  await confirm();

  for (let count = 0; count < 10; count++) await expect(attempt('not it')).rejects.toMatchObject(refused);
  for (const each of [attempt, confirm]) await expect(each()).rejects.toMatchObject({ code: 'TOO_MANY' });
  await limited.close();
});

it('refuses the owner of a suspended organisation as closed', async () => {
  const { email, principal } = await makeOwner(test);
  await suspendOrganisation(test.app, principal.organisation?.slug ?? '');
  await expect(signIn(email)).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
