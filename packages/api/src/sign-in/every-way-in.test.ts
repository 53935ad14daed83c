import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../db/schema.ts';
import { declineOwner, makePasswordLink, suspendOrganisation, suspendPerson } from '../operators/by-address.ts';
import { personByEmail } from '../sessions/person.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeOwner, makeSignUp, testClient, testPassword } from '../testing/makers.ts';
import { matchUser } from './match-user.ts';
import { signInWithPassword } from './with-password.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Every state that an account can be in, as an address. */
const states: Record<string, () => Promise<string>> = {
  unverified: async () => (await makeSignUp(test)).email,
  'awaiting approval': async () => (await makeOwner(test, { approved: false })).email,
  active: async () => (await makeOwner(test)).email,
  async declined() {
    const { email } = await makeOwner(test, { approved: false });
    await declineOwner(test.app, email, 'Not a customer.');
    return email;
  },
  async suspended() {
    const { email } = await makeOwner(test);
    await suspendPerson(test.app, email);
    return email;
  },
  async 'of a suspended organisation'() {
    const { email, principal } = await makeOwner(test);
    await suspendOrganisation(test.app, principal.organisation?.slug ?? '');
    return email;
  },
};

/** What a session of this person may do: everything of an owner, nothing while waiting, or there is none. */
async function standingOfSession(userId: string, organisationId: string | null): Promise<string> {
  const id = await startSession(test.app, { userId, organisationId, client: testClient });
  const principal = await readSession(test.app, id);
  if (principal === null) return 'refused';
  return principal.gate === 'open' && principal.scopes.includes('ADMIN') ? 'in' : 'waits';
}

/** Every way in; each answers how far it led. */
const ways: Record<string, (email: string) => Promise<string>> = {
  async password(email) {
    const { userId, organisationId } = await signInWithPassword(
      test.app,
      { email, password: testPassword },
      testClient,
    );
    return standingOfSession(userId, organisationId);
  },
  async 'identity provider'(email) {
    const person = await test.app.db.transaction((tx) =>
      matchUser(test.app, tx, { email, subject: `subject of ${email}`, name: null }, testClient),
    );
    if (person.standing === 'closed') return 'refused';
    return standingOfSession(person.user.id, person.organisationId);
  },
  async 'existing session'(email) {
    const person = await personByEmail(test.app.db, email);
    return standingOfSession(person?.user.id ?? '', person?.organisationId ?? null);
  },
  async 'one-time link'(email) {
    const link = new URL(await makePasswordLink(test.app, email));
    const password = 'quite another pass phrase';
    await callerFor(test, null).accounts.setPassword({ token: link.searchParams.get('token') ?? '', password });
    const { userId, organisationId } = await signInWithPassword(test.app, { email, password }, testClient);
    return standingOfSession(userId, organisationId);
  },
};

/** The identity provider proves the address itself; nothing passes the approval gate. */
const expected: Record<string, Record<string, string>> = {
  unverified: {
    password: 'refused',
    'identity provider': 'waits',
    'existing session': 'refused',
    'one-time link': 'refused',
  },
  'awaiting approval': {
    password: 'waits',
    'identity provider': 'waits',
    'existing session': 'waits',
    'one-time link': 'waits',
  },
  active: { password: 'in', 'identity provider': 'in', 'existing session': 'in', 'one-time link': 'in' },
  declined: closed(),
  suspended: closed(),
  'of a suspended organisation': closed(),
};

function closed() {
  return {
    password: 'refused',
    'identity provider': 'refused',
    'existing session': 'refused',
    'one-time link': 'refused',
  };
}

describe.each(Object.keys(states))('an account that is %s', (state) => {
  it.each(Object.keys(ways))('by %s', async (way) => {
    const email = await (states[state] as () => Promise<string>)();
    const led = await (ways[way] as (email: string) => Promise<string>)(email).catch((error) => {
      expect(error).toMatchObject({ name: 'Refusal' });
      return 'refused';
    });
    expect(led).toBe(expected[state]?.[way]);
  });
});

it('marks nobody verified who was refused', async () => {
  const email = await (states.declined as () => Promise<string>)();
  await ways['identity provider']?.(email);
  const [user] = await test.app.db.select().from(users).where(eq(users.email, email));
  expect(user?.idpSubject).toBeNull();
});
