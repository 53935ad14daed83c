import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resendVerification } from '../auth/verification/send-verification.ts';
import { verifyEmail } from '../auth/verification/verify-email.ts';
import { declineOrganisations } from '../organisations/approve.ts';
import { lockOrganisation } from '../organisations/organisation.ts';
import type { Transaction } from '../platform/db/client.ts';
import { message } from '../platform/messages.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeOwner, makeSignUp, newEmail, testClient, testPassword, tokenIn } from '../testing/factories.ts';
import { commandLine } from './actor.ts';
import { findUser } from './find-accounts.ts';
import { restoreOrganisation, suspendOrganisation } from './organisations/suspend-organisation.ts';
import { approveOwner, declineOwner } from './queue/decide.ts';
import { createPasswordLink } from './users/create-password-link.ts';
import { restoreUser, suspendUser } from './users/suspend-user.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Holder = { userId: string; organisationId: string };
type Act = (holder: Holder) => Promise<unknown>;

const closings: [what: string, approved: boolean, close: Act, reopen: Act][] = [
  [
    'the suspension of the user',
    true,
    ({ userId }) => suspendUser(test.app, { userId }, commandLine),
    ({ userId }) => restoreUser(test.app, { userId }, commandLine),
  ],
  [
    'the suspension of the organisation',
    true,
    ({ organisationId }) => suspendOrganisation(test.app, { organisationId }, commandLine),
    ({ organisationId }) => restoreOrganisation(test.app, { organisationId }, commandLine),
  ],
  [
    'a decline',
    false,
    ({ userId }) => declineOwner(test.app, { userId, reason: 'unknown' }, commandLine),
    ({ userId }) => approveOwner(test.app, { userId }, commandLine),
  ],
];

function open(token: string) {
  return verifyEmail(test.app, { token, browserToken: null }, testClient);
}

async function mailedPasswordLink(email: string): Promise<string> {
  await resendVerification(test.app, { email });
  return tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
}

describe.each(closings)('%s', (_what, approved, close, reopen) => {
  it('ends a lost-password link that was mailed before, also once the account is open again', async () => {
    const owner = await makeOwner(test, { approved });
    const token = await mailedPasswordLink(owner.email);
    await close(owner);
    await reopen(owner);
    expect(await open(token)).toEqual({ ok: false, kind: 'dead', text: message('link_expired') });
  });

  it('ends the forms of a link that was opened before', async () => {
    const owner = await makeOwner(test, { approved });
    const token = await mailedPasswordLink(owner.email);
    expect(await open(token)).toMatchObject({ ok: true, offers: { password: expect.anything() } });
    await close(owner);
    await reopen(owner);
    expect(await open(token)).toMatchObject({ ok: false, offers: { password: null, approvalToken: null } });
  });
});

it('a suspension of the user ends the link of a sign-up, and a new sign-up gets another', async () => {
  const { email, token } = await makeSignUp(test);
  const { id: userId } = await findUser(test.app.db, email);
  await suspendUser(test.app, { userId }, commandLine);
  await restoreUser(test.app, { userId }, commandLine);
  expect(await open(token)).toMatchObject({ ok: false });
  const [before] = test.sandbox.mailbox.messages(email);
  await callerFor(test, null).accounts.signUp({ email, password: testPassword });
  expect(await open(tokenIn((await test.sandbox.mailbox.waitFor(email, before)).text))).toMatchObject({ ok: true });
});

it('a decline that was followed by an approval leaves the link of a sign-up valid', async () => {
  const { email, token } = await makeSignUp(test);
  const { id: userId } = await findUser(test.app.db, email);
  await declineOwner(test.app, { userId, reason: 'unknown' }, commandLine);
  await approveOwner(test.app, { userId }, commandLine);
  expect(await open(token)).toMatchObject({ ok: true });
});

it('the suspension of a user ends a change of address that was requested before', async () => {
  const { api, userId } = await makeOwner(test);
  const email = newEmail();
  await api.accounts.changeAddress({ email, password: testPassword });
  const token = tokenIn((await test.sandbox.mailbox.waitFor(email)).text);
  await suspendUser(test.app, { userId }, commandLine);
  await restoreUser(test.app, { userId }, commandLine);
  expect(await open(token)).toMatchObject({ ok: false, kind: 'dead' });
});

/** Starts the creation of a password link while `hold` keeps its locks, and returns how it ended. */
async function linkMadeDuring(userId: string, hold: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
  let made: Promise<unknown> | undefined;
  await test.app.db.transaction(async (tx) => {
    await hold(tx);
    made = createPasswordLink(test.app, { userId }, commandLine).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
  return made;
}

it('a user whose organisation is declined at the same moment gets no password link', async () => {
  const { userId, organisationId } = await makeOwner(test, { approved: false });
  const decision = { organisationIds: [organisationId], actorId: null, now: test.app.now(), reason: 'unknown' };
  const made = await linkMadeDuring(userId, (tx) => declineOrganisations(tx, decision));
  expect(made).toMatchObject({ code: 'VALIDATION' });
});

it('a user whose organisation is suspended at the same moment gets no password link', async () => {
  const { userId, organisationId } = await makeOwner(test);
  let suspended: Promise<unknown> | undefined;
  const made = await linkMadeDuring(userId, async (tx) => {
    // The suspension waits here, after it has locked the members.
    await lockOrganisation(tx, organisationId);
    suspended = suspendOrganisation(test.app, { organisationId }, commandLine);
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
  await suspended;
  expect(made).toMatchObject({ code: 'VALIDATION' });
});
