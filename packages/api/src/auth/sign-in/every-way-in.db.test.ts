import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from '../../members/join.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import {
  approveOwner,
  createPasswordLink,
  declineOwner,
  suspendOrganisation,
  suspendUser,
} from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  callerFor,
  makeIdentity,
  makeInvitation,
  makeOwner,
  makeSignUp,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { principalOf } from '../../testing/principal.ts';
import { accountByEmail } from '../sessions/account.ts';
import { readSession, startSession } from '../sessions/session.ts';
import { matchUser } from './match-user.ts';
import { signInWithPassword } from './with-password.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Every state of an account, with the functions that make the user and bring about the state. */
const states: Record<string, { make: () => Promise<string>; reach?: (email: string) => Promise<unknown> }> = {
  unverified: { make: async () => (await makeSignUp(test)).email },
  'awaiting approval': { make: waiting },
  active: { make: waiting, reach: (email) => approveOwner(test.app, email) },
  declined: { make: waiting, reach: (email) => declineOwner(test.app, email, 'Not a customer.') },
  suspended: { make: approved, reach: (email) => suspendUser(test.app, email) },
  'of a suspended organisation': {
    make: approved,
    reach: async (email) => suspendOrganisation(test.app, await slugOf(email)),
  },
};

async function waiting(): Promise<string> {
  return (await makeOwner(test, { approved: false })).email;
}

async function approved(): Promise<string> {
  return (await makeOwner(test)).email;
}

async function slugOf(email: string): Promise<string> {
  const [row] = await test.app.db
    .select({ slug: organisations.slug })
    .from(organisations)
    .innerJoin(memberships, eq(memberships.organisationId, organisations.id))
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(users.email, email));
  return row?.slug ?? '';
}

/** Creates a user in the state, with a session that began before it. */
async function inState(state: string): Promise<{ email: string; before: string | null }> {
  const { make, reach } = states[state] ?? { make: waiting };
  const email = await make();
  const person = await accountByEmail(test.app.db, email);
  // A user who never verified the address has no session.
  const proved = person !== null && person.user.emailVerifiedAt !== null;
  const holder = { userId: person?.user.id ?? '', organisationId: person?.organisationId ?? null };
  const before = proved ? await startSession(test.app, { ...holder, client: testClient }) : null;
  await reach?.(email);
  return { email, before };
}

/** Returns what a new session of the user permits: everything of an owner ('in'), nothing yet ('waits'), or that it is refused. */
async function accessOfSession(userId: string, organisationId: string | null): Promise<string> {
  return whatOpens(await startSession(test.app, { userId, organisationId, client: testClient }));
}

async function whatOpens(sessionToken: string): Promise<string> {
  const principal = await readSession(test.app, sessionToken);
  if (principal === null) return 'refused';
  return principal.accountStatus === 'active' && principal.scopes.includes('ADMIN') ? 'in' : 'waits';
}

/** Every way to sign in. Each returns what its session permits. */
const ways: Record<string, (email: string, before: string | null) => Promise<string>> = {
  async password(email) {
    const { userId, organisationId } = await signInWithPassword(
      test.app,
      { email, password: testPassword },
      testClient,
    );
    return accessOfSession(userId, organisationId);
  },
  async 'identity provider'(email) {
    const person = await test.app.db.transaction((tx) => matchUser(test.app, tx, makeIdentity({ email }), testClient));
    if (person.accountStatus === 'closed') return 'refused';
    return accessOfSession(person.user.id, person.organisationId);
  },
  'existing session': async (_, before) => (before === null ? 'none' : whatOpens(before)),
  async 'one-time link'(email) {
    const link = new URL(await createPasswordLink(test.app, email));
    const password = 'quite another pass phrase';
    await callerFor(test, null).accounts.setPassword({ token: link.searchParams.get('token') ?? '', password });
    const { userId, organisationId } = await signInWithPassword(test.app, { email, password }, testClient);
    return accessOfSession(userId, organisationId);
  },
  /** By the holder of the link, with a session that is or was valid when the request came. */
  async invitation(email) {
    const token = await makeInvitation(await makeOwner(test, { name: 'Host' }), 'admin');
    const person = await accountByEmail(test.app.db, email);
    const userId = person?.user.id ?? '';
    const id = await startSession(test.app, {
      userId,
      organisationId: person?.organisationId ?? null,
      client: testClient,
    });
    const onboardedAt = null;
    const late = { organisation: null, role: null, accountStatus: 'active', sessionId: randomUUID() } as const;
    const user = { id: userId, email, name: null, operator: false, onboardedAt };
    const principal = (await readSession(test.app, id)) ?? principalOf({ ...late, user });
    await join(test.app, principal, { token }, testClient);
    const joined = await readSession(test.app, id);
    return joined?.organisation?.name === 'Host' && joined.scopes.includes('ADMIN') ? 'in' : 'joined without access';
  },
};

/**
 * The identity provider proves the address itself; nothing opens the approval gate. An invitation
 * joins an approved organisation and opens no gate of the user's own.
 */
const expected: Record<string, Record<string, string>> = {
  unverified: {
    password: 'refused',
    'identity provider': 'waits',
    'existing session': 'none',
    'one-time link': 'refused',
    invitation: 'refused',
  },
  'awaiting approval': {
    password: 'waits',
    'identity provider': 'waits',
    'existing session': 'waits',
    'one-time link': 'waits',
    invitation: 'in',
  },
  active: {
    password: 'in',
    'identity provider': 'in',
    'existing session': 'in',
    'one-time link': 'in',
    invitation: 'in',
  },
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
    invitation: 'refused',
  };
}

describe.each(Object.keys(states))('an account that is %s', (state) => {
  it.each(Object.keys(ways))('by %s', async (way) => {
    const { email, before } = await inState(state);
    const led = await ways[way]?.(email, before).catch((error) => {
      expect(error).toMatchObject({ name: 'AppError' });
      return 'refused';
    });
    expect(led).toBe(expected[state]?.[way]);
  });
});

it('an invitation is not valid while its organisation is suspended', async () => {
  const { api } = await makeOwner(test);
  const host = await makeOwner(test);
  const token = await makeInvitation(host);
  await suspendOrganisation(test.app, host.principal.organisation?.slug ?? '');
  const notValid = { cause: { code: 'VALIDATION', message: 'This invitation is no longer valid.' } };
  await expect(api.members.join({ token })).rejects.toMatchObject(notValid);
  await expect(callerFor(test, null).members.invitation({ token })).rejects.toMatchObject(notValid);
});

it('links no identity to a refused user', async () => {
  const { email, before } = await inState('declined');
  await ways['identity provider']?.(email, before);
  expect((await accountByEmail(test.app.db, email))?.user.idpSubject).toBeNull();
});

/** States as a race leaves them: the account is closed, and its session was not deleted. */
const closings: Record<string, (holder: { userId: string; organisationId: string }) => Promise<unknown>> = {
  suspended: ({ userId }) => test.app.db.update(users).set({ suspendedAt: test.app.now() }).where(eq(users.id, userId)),
  declined: ({ organisationId }) =>
    test.app.db.update(organisations).set({ approval: 'declined' }).where(eq(organisations.id, organisationId)),
  'of a suspended organisation': ({ organisationId }) =>
    test.app.db.update(organisations).set({ suspendedAt: test.app.now() }).where(eq(organisations.id, organisationId)),
};

it.each(Object.keys(closings))(
  'a session that was not deleted grants no access to an account that is %s',
  async (state) => {
    const owner = await makeOwner(test);
    const id = await startSession(test.app, { ...owner, client: testClient });
    expect(await whatOpens(id)).toBe('in');
    await closings[state]?.(owner);
    expect(await whatOpens(id)).toBe('refused');
  },
);
