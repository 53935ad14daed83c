import { afterAll, beforeAll, expect, it } from 'vitest';
import { declineOwner, suspendOrganisation, suspendPerson } from '../operators/by-address.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../testing/makers.ts';
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

it('lets the holder in, whatever the letters’ case and the space around', async () => {
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

it('lets somebody in who waits for approval', async () => {
  const { email, principal } = await makeOwner(test, { approved: false });
  expect(await signIn(email)).toMatchObject({ userId: principal.user.id });
  expect(principal).toMatchObject({ gate: 'awaiting_approval', scopes: [] });
});

it.each([
  ['declined', (email: string) => declineOwner(test.app, email, 'Not a customer.'), false],
  ['suspended', (email: string) => suspendPerson(test.app, email), true],
] as const)('tells a %s account that it is closed, for the right password alone', async (_, close, approved) => {
  const { email } = await makeOwner(test, { approved });
  await close(email);

  await expect(signIn(email)).rejects.toMatchObject({ code: 'FORBIDDEN', message: 'This account is closed.' });
  await expect(signIn(email, 'not the pass phrase')).rejects.toMatchObject(refused);
});

it('closes the account of a suspended organisation’s owner', async () => {
  const { email, principal } = await makeOwner(test);
  await suspendOrganisation(test.app, principal.organisation?.slug ?? '');
  await expect(signIn(email)).rejects.toMatchObject({ code: 'FORBIDDEN' });
});
