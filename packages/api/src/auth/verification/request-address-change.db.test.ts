import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { oneTimeTokens, users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { message } from '../../platform/messages.ts';
import { approveOwner, restoreUser, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeOwner,
  makeSignUp,
  newEmail,
  testClient,
  testPassword,
  tokenIn,
  wantAddress,
} from '../../testing/factories.ts';
import { listSessions, readSession, startSession } from '../sessions/session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';
import { noOffers } from './link.ts';
import { sendVerification } from './send-verification.ts';
import { verifyEmail } from './verify-email.ts';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
});

afterAll(() => test.close());

type Owner = Awaited<ReturnType<typeof makeOwner>>;

function ask({ api }: Owner, email: string, password = testPassword) {
  return api.accounts.changeAddress({ email, password });
}

/** Requests the change, and returns the token that was mailed to the new address. */
async function mailed(owner: Owner, email = newEmail()) {
  const [before] = test.sandbox.mailbox.messages(email);
  await ask(owner, email);
  const mail = await test.sandbox.mailbox.waitFor(email, before);
  return { email, mail, token: tokenIn(mail.text) };
}

/** A GET with the session of a user, or with none. */
function open(token: string, sessionToken: string | null = null) {
  return verifyEmail(test.app, { token, browserToken: null, sessionToken }, testClient);
}

function newSession(owner: Owner) {
  return startSession(test.app, { ...owner, client: testClient });
}

async function addressOf({ userId }: Owner) {
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  return user?.email;
}

function signIn(email: string, password = testPassword) {
  return signInWithPassword(test.app, { email, password }, testClient);
}

it('changes the address when the user opens the link that went to the new one, and not before', async () => {
  const owner = await makeOwner(test);
  const { email, mail, token } = await mailed(owner);
  expect(mail.text).toContain('You (or someone else) asked to use this address for an account at Gatehouse.');
  expect(mail.text).not.toContain(owner.email);
  expect(await addressOf(owner)).toBe(owner.email);

  expect(await open(token, await newSession(owner))).toMatchObject({
    ok: true,
    kind: 'address-changed',
    awaitingApproval: false,
  });
  expect(await addressOf(owner)).toBe(email);
  expect(await signIn(email)).toMatchObject({ userId: owner.userId });
  await expect(signIn(owner.email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await open(token)).toMatchObject({ ok: false, kind: 'confirmed-already', offers: noOffers });
});

it('ends the other sessions, and keeps the one that asked', async () => {
  const owner = await makeOwner(test);
  const other = await startSession(test.app, { ...owner, client: testClient });
  const { token } = await mailed(owner);
  expect(await readSession(test.app, other)).not.toBeNull();
  await open(token, await newSession(owner));
  expect(await readSession(test.app, other)).toBeNull();
  expect((await listSessions(test.app, owner.userId)).map(({ id }) => id)).toEqual([owner.principal.sessionId]);
});

it('requires the right password and a valid address other than the current one', async () => {
  const owner = await makeOwner(test);
  await expect(ask(owner, newEmail(), 'not the pass phrase')).rejects.toMatchObject({
    cause: { code: 'UNAUTHENTICATED', fields: { password: expect.any(String) } },
  });
  for (const email of [` ${owner.email.toUpperCase()} `, 'nobody']) {
    await expect(ask(owner, email)).rejects.toMatchObject({
      cause: { code: 'VALIDATION', fields: { email: expect.any(String) } },
    });
  }
});

it('answers alike for every new address, and mails nothing to one that has an account', async () => {
  const owner = await makeOwner(test);
  const taken = await makeOwner(test);
  const before = test.sandbox.mailbox.messages(taken.email).length;
  expect(await ask(owner, taken.email)).toEqual(await ask(owner, newEmail()));

  await wantAddress(test, { userId: owner.userId, email: taken.email });
  await sendVerification(test.app, { email: taken.email, userId: owner.userId, sessionId: owner.principal.sessionId });
  expect(test.sandbox.mailbox.messages(taken.email)).toHaveLength(before);
});

it('gives an address to one account: the link fails if another account proved the address first', async () => {
  const owner = await makeOwner(test);
  const { email, token } = await mailed(owner);
  await test.app.db.insert(users).values({
    id: crypto.randomUUID(),
    email,
    emailVerifiedAt: test.app.now(),
    createdAt: test.app.now(),
  });
  expect(await open(token)).toMatchObject({ ok: false, text: message('link_invalid'), kind: 'dead' });
  expect(await addressOf(owner)).toBe(owner.email);
});

it('lets one of two have an address for which both opened a link at the same time', async () => {
  const [one, other] = [await makeOwner(test), await makeOwner(test)];
  const { email, token } = await mailed(one);
  const { token: second } = await mailed(other, email);
  const sessions = [await newSession(one), await newSession(other)] as const;
  const outcomes = await Promise.all([open(token, sessions[0]), open(second, sessions[1])]);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect([await addressOf(one), await addressOf(other)].filter((address) => address === email)).toHaveLength(1);
});

it('mails nothing to the address of a sign-up whose link can still be opened', async () => {
  const owner = await makeOwner(test);
  const { email, token: own } = await makeSignUp(test, { name: 'Newcomers' });
  await wantAddress(test, { userId: owner.userId, email });
  await sendVerification(test.app, { email, userId: owner.userId, sessionId: owner.principal.sessionId });
  expect(test.sandbox.mailbox.messages(email)).toHaveLength(1);
  expect(await open(own)).toMatchObject({ ok: true, kind: 'address-confirmed' });
});

it('changes nothing by a link that is opened when somebody signed up with the address meanwhile', async () => {
  const owner = await makeOwner(test);
  const { email, token, mail } = await mailed(owner);
  await callerFor(test, null).accounts.signUp({ email, password: testPassword, org_name: 'Newcomers' });
  const own = tokenIn((await test.sandbox.mailbox.waitFor(email, mail)).text);
  expect(await open(token, await newSession(owner))).toMatchObject({ ok: false, kind: 'dead' });
  expect(await addressOf(owner)).toBe(owner.email);
  expect(await open(own)).toMatchObject({ ok: true, kind: 'address-confirmed' });
});

it('is not blocked by a sign-up that nobody confirmed in time, and deletes it with its organisation', async () => {
  const late = await startTestApp();
  const owner = await makeOwner(late);
  const { email, mail } = await makeSignUp(late, { name: 'Squatters' });
  await approveOwner(late.app, email);
  late.advance(61 * 60_000);
  await owner.api.accounts.changeAddress({ email, password: testPassword });
  const token = tokenIn((await late.sandbox.mailbox.waitFor(email, mail)).text);
  const sessionToken = await startSession(late.app, { ...owner, client: testClient });
  expect(await verifyEmail(late.app, { token, browserToken: null, sessionToken }, testClient)).toMatchObject({
    ok: true,
  });
  expect(await late.app.db.$count(organisations, eq(organisations.name, 'Squatters'))).toBe(0);
  await late.close();
});

it('mails no link to the address of an account that a key or an import made, whose sign-up nobody confirmed in time', async () => {
  const late = await startTestApp();
  const { userId, principal } = await makeOwner(late);
  const { email } = await makeSignUp(late);
  await late.app.db.update(users).set({ provisioned: true }).where(eq(users.email, email));
  late.advance(61 * 60_000);
  await wantAddress(late, { userId, email });
  await sendVerification(late.app, { email, userId, sessionId: principal.sessionId });
  expect(late.sandbox.mailbox.messages(email)).toHaveLength(1);
  await late.close();
});

it('mails no link to the address of an account that an operator has closed', async () => {
  const owner = await makeOwner(test);
  const { email } = await makeSignUp(test);
  await suspendUser(test.app, email);
  await wantAddress(test, { userId: owner.userId, email });
  await sendVerification(test.app, { email, userId: owner.userId, sessionId: owner.principal.sessionId });
  expect(test.sandbox.mailbox.messages(email)).toHaveLength(1);
});

it('changes nothing for a closed account, whose link ends with its suspension', async () => {
  const owner = await makeOwner(test);
  const { token } = await mailed(owner);
  await suspendUser(test.app, owner.email);
  expect(await open(token)).toMatchObject({ ok: false });
  expect(await addressOf(owner)).toBe(owner.email);
  await restoreUser(test.app, owner.email);
  expect(await open(token, await newSession(owner))).toMatchObject({ ok: false, kind: 'dead' });
  expect(await addressOf(owner)).toBe(owner.email);
});

it('works once out of 50 attempts, and ends the user’s other links for a change', async () => {
  const owner = await makeOwner(test);
  const { token: first } = await mailed(owner);
  const { email, token } = await mailed(owner);
  const session = await newSession(owner);
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => open(token, session)));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(await open(first)).toMatchObject({ ok: false });
  expect(await addressOf(owner)).toBe(email);
});

it('a change of the password ends the link', async () => {
  const owner = await makeOwner(test);
  const { token } = await mailed(owner);
  await owner.api.accounts.changePassword({ current_password: testPassword, password: 'another long pass phrase' });
  expect(await open(token)).toMatchObject({ ok: false });
  expect(await addressOf(owner)).toBe(owner.email);
});

it('offers neither a password form nor an approval, whether unused or used, where every domain is approved', async () => {
  const generous = await startTestApp({ environment: { APPROVED_DOMAINS: '*' } });
  const { db } = generous.app;
  const owner = await makeOwner(generous);
  const email = newEmail();
  await callerFor(generous, owner.principal).accounts.changeAddress({ email, password: testPassword });
  const token = tokenIn((await generous.sandbox.mailbox.waitFor(email)).text);
  // A new account, which would be offered both.
  await db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.userId));
  await db.update(organisations).set({ approval: 'pending' }).where(eq(organisations.id, owner.organisationId));

  for (const what of ['open', 'used']) {
    const outcome = await verifyEmail(generous.app, { token, browserToken: null }, testClient);
    expect(outcome).toMatchObject({ ok: what === 'open', kind: 'change-offered' });
    expect(outcome).not.toHaveProperty('offers');
  }

  const [user] = await db.select().from(users).where(eq(users.id, owner.userId));
  const [organisation] = await db.select().from(organisations).where(eq(organisations.id, owner.organisationId));
  const tokens = await db.select().from(oneTimeTokens).where(eq(oneTimeTokens.userId, owner.userId));
  expect([user?.email, user?.passwordHash, organisation?.approval]).toEqual([owner.email, null, 'pending']);
  expect(tokens.map(({ purpose }) => purpose)).toEqual(['change-address', 'change-address']);
  await generous.close();
});
