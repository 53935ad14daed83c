import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  makeIdentity,
  makeInvitation,
  makeOwner,
  makeSignUp,
  newEmail,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { accountByEmail } from '../sessions/account.ts';
import { startSession } from '../sessions/session.ts';
import { verifyEmail } from '../verification/verify-email.ts';
import { matchUser } from './match-user.ts';
import { signInWithPassword } from './with-password.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

function match({
  email,
  subject = randomUUID(),
  name = null,
  invited = false,
}: {
  email: string;
  subject?: string;
  name?: string | null;
  invited?: boolean;
}) {
  return test.app.db.transaction((tx) =>
    matchUser(test.app, tx, makeIdentity({ email, subject, name }), testClient, { invited }),
  );
}

async function rowOf(email: string) {
  return (await accountByEmail(test.app.db, email))?.user;
}

it('makes a new organisation and owner, verified and awaiting approval', async () => {
  const email = newEmail();
  const person = await match({ email, subject: 'new-subject', name: 'A Person' });

  expect(person).toMatchObject({ accountStatus: 'awaiting_approval', organisationId: expect.any(String) });
  expect(await rowOf(email)).toMatchObject({ name: 'A Person', idpSubject: 'new-subject', passwordHash: null });
});

it('does not read back a user that it has created and approved', async () => {
  const approving = await startTestApp({ environment: { APPROVED_DOMAINS: '*' } });
  const { app } = approving;
  const enter = () => app.db.transaction((tx) => matchUser(app, tx, makeIdentity({ email: newEmail() }), testClient));
  const read: string[] = [];
  app.sql.options.debug = (_, statement) => {
    if (/^select .* from "users"/.test(statement)) read.push(statement);
  };

  expect(await enter()).toMatchObject({ accountStatus: 'active', organisationId: expect.any(String) });
  expect(read).toEqual([]);
  await approving.close();
});

it('recognises a subject whose address has changed', async () => {
  const email = newEmail();
  const first = await match({ email, subject: 'moving-subject' });
  const again = await match({ email: newEmail(), subject: 'moving-subject' });

  expect(again.user.id).toBe(first.user.id);
  expect(again.user.email).toBe(email);
});

it('links a verified account by its address, and keeps its password', async () => {
  const { email, userId } = await makeOwner(test);
  const person = await match({ email, subject: 'linked-subject', name: 'From The Provider' });

  expect(person.user.id).toBe(userId);
  expect(await rowOf(email)).toMatchObject({ idpSubject: 'linked-subject', name: 'From The Provider' });
  await signInWithPassword(test.app, { email, password: testPassword }, testClient);
});

it('fills an empty name only', async () => {
  const { email, userId } = await makeOwner(test);
  await test.app.db.update(users).set({ name: 'Their Own Name' }).where(eq(users.id, userId));
  await match({ email, name: 'Another Name' });
  expect(await rowOf(email)).toMatchObject({ name: 'Their Own Name' });
});

it('treats the same subject of another issuer as another user', async () => {
  const enter = (issuer: string) => {
    const identity = makeIdentity({ email: newEmail(), subject: 'same-subject', issuer });
    return test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
  };
  const [one, other] = [await enter('https://one.example'), await enter('https://other.example')];
  expect(one.user.id).not.toBe(other.user.id);
  expect((await enter('https://one.example')).user.id).toBe(one.user.id);
});

it('refuses a second subject for one account', async () => {
  const email = newEmail();
  await match({ email, subject: 'first-subject' });
  await expect(match({ email, subject: 'second-subject' })).rejects.toThrow('another subject');
});

it('deletes the password, the links and the organisation’s name of an unverified sign-up with the address', async () => {
  const { email, token } = await makeSignUp(test, { name: 'Squatters' });
  const person = await match({ email });

  expect(await rowOf(email)).toMatchObject({ passwordHash: null, emailVerifiedAt: expect.any(Date) });
  await expect(signInWithPassword(test.app, { email, password: testPassword }, testClient)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
  expect(await verifyEmail(test.app, { token, browserToken: null }, testClient)).toMatchObject({ ok: false });
  const [organisation] = await test.app.db
    .select({ name: organisations.name, slug: organisations.slug })
    .from(organisations)
    .innerJoin(memberships, eq(memberships.organisationId, organisations.id))
    .where(eq(memberships.userId, person.user.id));
  expect(organisation?.name).toBeNull();
  expect(organisation?.slug).not.toMatch(/squatters/);
});

it('gives a user with an invitation no organisation of their own, nor that of an unverified sign-up', async () => {
  const newcomer = { accountStatus: 'awaiting_approval', organisationId: null };
  expect(await match({ email: newEmail(), invited: true })).toMatchObject(newcomer);

  const { email } = await makeSignUp(test, { name: 'Squatted House' });
  expect(await match({ email, invited: true })).toMatchObject(newcomer);
  expect(await test.app.db.$count(organisations, eq(organisations.name, 'Squatted House'))).toBe(0);
});

it('the invitation of an unverified sign-up does not open the approval gate for the owner of the address', async () => {
  const invitation = await makeInvitation(await makeOwner(test));
  const { email } = await makeSignUp(test, { invitation });
  expect(await match({ email })).toMatchObject({
    accountStatus: 'awaiting_approval',
    organisationId: expect.any(String),
  });
});

it('links no identity to a closed account, which gets no session', async () => {
  const { email, userId, organisationId } = await makeOwner(test);
  await suspendUser(test.app, email);
  expect(await match({ email })).toMatchObject({ accountStatus: 'closed' });
  expect(await rowOf(email)).toMatchObject({ idpSubject: null });
  const session = { userId, organisationId, client: testClient };
  await expect(startSession(test.app, session)).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

it('makes one account out of 20 first sign-ins at once', async () => {
  const email = newEmail();
  const people = await Promise.all(Array.from({ length: 20 }, () => match({ email, subject: 'parallel-subject' })));
  expect(new Set(people.map(({ user }) => user.id)).size).toBe(1);
});

it('of two concurrent subjects with one address, one is linked', async () => {
  const email = newEmail();
  const ended = await Promise.allSettled([match({ email, subject: 'race-a' }), match({ email, subject: 'race-b' })]);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});
