import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSession } from '../../auth/sessions/session.ts';
import { signInWithPassword } from '../../auth/sign-in/with-password.ts';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { oneTimeTokens, signUps, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import type { Caller } from '../../router/root.ts';
import { approveOwner } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, makeSignUp, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';

let test: TestApp;
let deployment: Caller;
let manage: Caller['management'];
beforeAll(async () => {
  test = await startTestApp();
  deployment = (await makeKey(test, { scope: 'MANAGE', passwordLinks: true })).api;
  manage = deployment.management;
});
afterAll(() => test.close());

const signIn = (email: string) => signInWithPassword(test.app, { email, password: testPassword }, testClient);
const open = (token: string, browserToken: string | null) => verifyEmail(test.app, { token, browserToken }, testClient);

async function idOf(email: string): Promise<string> {
  const [row] = await test.app.db.select({ id: users.id }).from(users).where(eq(users.email, email));
  return row?.id ?? '';
}

describe('a user whom a key creates with verified: true takes over an unverified account', () => {
  let thief: Awaited<ReturnType<typeof makeSignUp>>;
  let userId: string;
  let organisation: string;
  beforeEach(async () => {
    thief = await makeSignUp(test, { name: `Stranger ${newEmail()}` });
    userId = await idOf(thief.email);
    const [own] = await test.app.db.select().from(memberships).where(eq(memberships.userId, userId));
    organisation = own?.organisationId ?? '';
    // What no use case gives an unverified account today.
    await test.app.db.update(users).set({ name: 'Thief' }).where(eq(users.id, userId));
    const [id, now] = [randomUUID(), test.app.now()];
    const times = { createdAt: now, lastUsedAt: now, expiresAt: new Date(now.getTime() + dayMilliseconds) };
    await test.app.db.insert(sessions).values({ idHash: id, id, userId, ...times });
    await manage.createUser({ email: thief.email, verified: true });
  });

  it('keeps its id, and is verified without the stranger’s name and organisation', async () => {
    expect(await manage.user({ user_id: userId })).toMatchObject({
      email: thief.email,
      name: null,
      status: 'active',
      verified: true,
      organisations: [],
    });
    expect(await test.app.db.$count(organisations, eq(organisations.id, organisation))).toBe(0);
  });

  it('leaves no password, session, pending sign-up or link', async () => {
    await expect(signIn(thief.email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    for (const table of [sessions, signUps, verificationLinks, oneTimeTokens]) {
      expect(await test.app.db.$count(table, eq(table.userId, userId))).toBe(0);
    }
  });

  it('lets the stranger’s link do nothing, in the browser that signed up too', async () => {
    expect(await open(thief.token, thief.browserToken)).toMatchObject({ ok: false, kind: 'dead' });
    await expect(signIn(thief.email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('gives a later sign-up with the address no way in but a link by mail', async () => {
    const password = 'quite another pass phrase';
    const { browserToken } = await signUp(test.app, signUpInput.parse({ email: thief.email, password }), testClient);
    expect(browserToken).toEqual(expect.any(String));
    await expect(signInWithPassword(test.app, { email: thief.email, password }, testClient)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});

it('an organisation that the payment provider knows is not deleted with the sign-up: the user keeps it', async () => {
  const { email } = await makeSignUp(test, { name: 'Stranger Ltd' });
  const userId = await idOf(email);
  const [own] = await test.app.db.select().from(memberships).where(eq(memberships.userId, userId));
  const { organisationId = '' } = own ?? {};
  await test.app.db
    .insert(paymentCustomers)
    .values({ organisationId, customerId: `cus_${userId}`, createdAt: test.app.now() });
  await manage.createUser({ email, verified: true, organisation: { name: 'Larch' } });
  expect((await manage.user({ user_id: userId })).organisations).toMatchObject([{ id: organisationId, name: 'Larch' }]);
  expect(await test.app.db.$count(paymentCustomers, eq(paymentCustomers.organisationId, organisationId))).toBe(1);
});

it('the feed tells what operators had decided about an organisation that a key takes over', async () => {
  const { email } = await makeSignUp(test, { name: 'Stranger Ltd' });
  await approveOwner(test.app, email);
  const { next } = await deployment.changes.since({});
  await manage.createUser({ email, organisation: { name: 'Larch' } });
  const { changes } = await deployment.changes.since({ after: next });
  expect(changes.map(({ type }) => type)).toEqual(['organisation.created', 'organisation.approved']);
});

it('an unverified user whom a key creates again keeps the gate shut, and the company’s name counts', async () => {
  const { email } = await makeSignUp(test, { name: 'Stranger Ltd' });
  const made = await manage.createUser({ email, name: 'Mia', organisation: { name: 'Larch' } });
  expect(made).toMatchObject({ id: await idOf(email), name: 'Mia', status: 'unverified', verified: false });
  expect((await manage.user({ user_id: made.id })).organisations).toMatchObject([{ name: 'Larch', role: 'owner' }]);
  await expect(signIn(email)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

it('a verified account is not taken over: it keeps its password and session', async () => {
  const { email, userId } = await makeOwner(test);
  await startSession(test.app, { userId, organisationId: null, client: testClient });
  const before = await test.app.db.$count(sessions, eq(sessions.userId, userId));
  await expect(manage.createUser({ email, verified: true, name: 'Thief' })).rejects.toMatchObject({
    code: 'CONFLICT',
    cause: { facts: { id: userId } },
  });
  expect(await test.app.db.$count(sessions, eq(sessions.userId, userId))).toBe(before);
  expect(await signIn(email)).toMatchObject({ userId });
});
