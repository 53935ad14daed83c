import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restoreUser, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, newEmail, signInAs, testClient, testPassword, tokenIn } from '../../testing/factories.ts';
import { startSession } from '../sessions/session.ts';
import { sendVerification } from './send-verification.ts';
import { verifyEmail } from './verify-email.ts';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
});

afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

async function pendingOf({ api }: Owner): Promise<string | null> {
  return (await api.accounts.profile()).user.new_email;
}

function ask({ api }: Owner, email: string) {
  return api.accounts.changeAddress({ email, password: testPassword });
}

function newSession(owner: Owner) {
  return startSession(test.app, { ...owner, client: testClient });
}

it('shows the address until its link is opened, and the latest of several', async () => {
  const owner = await makeOwner(test);
  expect(await pendingOf(owner)).toBeNull();
  await ask(owner, newEmail());
  const email = newEmail();
  await ask(owner, email);
  expect(await pendingOf(owner)).toBe(email);

  const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
  await verifyEmail(test.app, { token, browserToken: null, sessionToken: await newSession(owner) }, testClient);
  expect(await pendingOf(owner)).toBeNull();
});

it('shows an address that has an account as any other', async () => {
  const [owner, taken] = [await makeOwner(test), await makeOwner(test)];
  await ask(owner, taken.email);
  expect(await pendingOf(owner)).toBe(taken.email);
  await owner.api.accounts.resendAddressChange();
  await owner.api.accounts.cancelAddressChange();
  expect(await pendingOf(owner)).toBeNull();
});

describe('a request whose session ended meanwhile', () => {
  const refused = { cause: { code: 'UNAUTHENTICATED' } };

  it('leaves none pending after a new password', async () => {
    const owner = await makeOwner(test);
    const thief = await signInAs(test, owner.email);
    const password = 'quite another pass phrase';
    await owner.api.accounts.changePassword({ current_password: testPassword, password });
    await expect(thief.api.accounts.changeAddress({ email: newEmail() })).rejects.toMatchObject(refused);
    expect(await pendingOf(owner)).toBeNull();

    await owner.api.accounts.changeAddress({ email: newEmail(), password });
    await expect(thief.api.accounts.resendAddressChange()).rejects.toMatchObject(refused);
  });

  it('is refused after the account was deleted', async () => {
    const owner = await makeOwner(test);
    const other = await signInAs(test, owner.email);
    await owner.api.leaving.deleteAccount({ password: testPassword });
    await expect(other.api.accounts.changeAddress({ email: newEmail() })).rejects.toMatchObject(refused);
  });
});

it('is over once its link would have expired', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  await ask(owner, newEmail());
  late.advance(61 * 60_000);
  expect(await pendingOf(owner)).toBeNull();
  const gone = { cause: { code: 'NOT_FOUND' } };
  await expect(owner.api.accounts.resendAddressChange()).rejects.toMatchObject(gone);
  await expect(owner.api.accounts.cancelAddressChange()).rejects.toMatchObject(gone);
  await late.close();
});

it('is mailed again without the password, at most once a minute', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  const email = newEmail();
  await ask(owner, email);
  const first = await late.sandbox.mailbox.waitFor(email);
  late.advance(16 * 60_000);
  await owner.api.accounts.resendAddressChange();
  const second = await late.sandbox.mailbox.waitFor(email, first);
  const sessionToken = await startSession(late.app, { ...owner, client: testClient });
  const outcome = await verifyEmail(
    late.app,
    { token: tokenIn(second.text), browserToken: null, sessionToken },
    testClient,
  );
  expect(outcome).toMatchObject({ ok: true, kind: 'address-changed' });
  await late.close();
});

it('cancelled, it ends its links, what their pages offer, and a mail that is still to leave', async () => {
  const owner = await makeOwner(test);
  const email = newEmail();
  await ask(owner, email);
  const mail = await test.sandbox.mailbox.waitFor(email);
  const opened = await verifyEmail(test.app, { token: tokenIn(mail.text), browserToken: null }, testClient);
  const form = 'changeToken' in opened ? opened.changeToken : '';
  await owner.api.accounts.cancelAddressChange();

  const sessionToken = await newSession(owner);
  const again = await verifyEmail(
    test.app,
    { token: tokenIn(mail.text), browserToken: null, sessionToken },
    testClient,
  );
  expect(again).toMatchObject({ ok: false });
  await expect(owner.api.accounts.confirmChange({ token: form, password: testPassword })).rejects.toMatchObject({
    cause: { code: 'VALIDATION' },
  });
  test.advance(2 * 60_000);
  await sendVerification(test.app, { email, userId: owner.userId, sessionId: owner.principal.sessionId });
  expect(test.sandbox.mailbox.messages(email)).toHaveLength(1);
  expect((await owner.api.accounts.profile()).user.email).toBe(owner.email);
});

it('ends with a new password and with a suspension, which end its links', async () => {
  const one = await makeOwner(test);
  await ask(one, newEmail());
  await one.api.accounts.changePassword({ current_password: testPassword, password: 'another long pass phrase' });
  expect(await pendingOf(one)).toBeNull();

  const other = await makeOwner(test);
  await ask(other, newEmail());
  await suspendUser(test.app, other.email);
  await restoreUser(test.app, other.email);
  const { api } = await signInAs(test, other.email);
  expect((await api.accounts.profile()).user.new_email).toBeNull();
});

it('cancelled twice at the same time, it is cancelled once', async () => {
  const owner = await makeOwner(test);
  await ask(owner, newEmail());
  const cancelled = await Promise.allSettled([1, 2, 3].map(() => owner.api.accounts.cancelAddressChange()));
  expect(cancelled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
