import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import type { Caller } from '../../router/root.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import {
  addMember,
  callerFor,
  givePlan,
  makeOwner,
  newEmail,
  testClient,
  testPassword,
} from '../../testing/factories.ts';
import { readSession, readSharedSession, shareSession, startSession } from '../sessions/session.ts';
import { signInWithPassword } from '../sign-in/with-password.ts';

let test: TestApp;
let late: TestApp;
let limited: TestApp;
beforeAll(async () => {
  [test, late, limited] = await Promise.all([
    startTestApp(),
    startTestApp(),
    startTestApp({ environment: { RATE_LIMITS: 'on' } }),
  ]);
});
afterAll(() => Promise.all([test.close(), late.close(), limited.close()]));

type Owner = Awaited<ReturnType<typeof makeOwner>>;

/** A session as a browser holds it, whose cookie was copied before it became fresh, if it ever does. */
async function browserOf(at: TestApp, owner: Owner, { fresh = false } = {}) {
  const { userId, organisationId } = owner;
  let token = await startSession(at.app, { userId, organisationId, fresh, client: testClient });
  const renew = async (renewed: string) => {
    token = renewed;
  };
  return {
    token: () => token,
    api: async () => callerFor(at, await readSession(at.app, token), { session: { renew } }),
  };
}

describe('signing in again', () => {
  it('makes the session fresh for 15 minutes, and voids its old token and the shared one', async () => {
    const browser = await browserOf(late, await makeOwner(late));
    const copied = browser.token();
    const shared = await shareSession(late.app, copied);
    const isFresh = async () => (await (await browser.api()).accounts.profile()).user.fresh_sign_in;
    expect(await isFresh()).toBe(false);

    expect(await (await browser.api()).signIn.again({ password: testPassword })).toEqual({ ok: true });
    expect(browser.token()).not.toBe(copied);
    expect(await readSession(late.app, copied)).toBeNull();
    expect(await readSharedSession(late.app, shared)).toBeNull();
    expect(await isFresh()).toBe(true);
    late.advance(15 * 60_000 + 1000);
    expect(await isFresh()).toBe(false);
  });

  it.each(['', undefined])('asks for the password: %j', async (password) => {
    const { api } = await makeOwner(test);
    await expect(api.signIn.again({ password } as never)).rejects.toMatchObject({
      cause: { code: 'VALIDATION', fields: { password: 'Enter your password.' } },
    });
  });

  it('refuses a wrong password as sign-in does, and the session keeps its token', async () => {
    const browser = await browserOf(test, await makeOwner(test));
    const before = browser.token();
    await expect((await browser.api()).signIn.again({ password: 'not the pass phrase' })).rejects.toMatchObject({
      cause: { code: 'UNAUTHENTICATED', message: 'E-mail or password is wrong.' },
    });
    expect(browser.token()).toBe(before);
  });

  it('counts failures as failures of sign-in', async () => {
    const { api, email } = await makeOwner(limited);
    for (let tried = 0; tried < 10; tried++) {
      await expect(api.signIn.again({ password: 'not the pass phrase' })).rejects.toMatchObject({
        cause: { code: 'UNAUTHENTICATED' },
      });
    }
    await expect(api.signIn.again({ password: testPassword })).rejects.toMatchObject({ cause: { code: 'TOO_MANY' } });
    await expect(signInWithPassword(limited.app, { email, password: testPassword }, testClient)).rejects.toMatchObject({
      code: 'TOO_MANY',
    });
  });

  it('is open to an account that awaits approval', async () => {
    const { api } = await makeOwner(test, { approved: false });
    expect(await api.signIn.again({ password: testPassword })).toEqual({ ok: true });
  });
});

it('a sign-in with a password begins a fresh session, one through the provider does not', async () => {
  const { userId, organisationId } = await makeOwner(test);
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  const start = { userId, organisationId, client: testClient };
  const byPassword = await startSession(test.app, { ...start, passwordHash: user?.passwordHash ?? null });
  expect((await readSession(test.app, byPassword))?.freshUntil).not.toBeNull();
  expect((await readSession(test.app, await startSession(test.app, start)))?.freshUntil).toBeNull();
});

type Attempt = (
  api: Caller,
  of: { owner: Owner; member: string; person: string },
  password?: string,
) => Promise<unknown>;

/** What a copied cookie could turn into lasting power (design.md 3.11). */
const powers: Record<string, Attempt> = {
  'an API key of the organisation': (api, { owner }, password) =>
    api.keys.create({ organisation_id: owner.organisationId, name: 'Worker', password }),
  'an API key of the deployment': (api, _of, password) => api.operators.createKey({ name: 'Worker', password }),
  'a password link': (api, { person }, password) => api.operators.passwordLink({ user_id: person, password }),
  'the erasure of a person': (api, { person }, password) => api.operators.erase({ user_id: person, password }),
  'an invitation of an admin': (api, { owner }, password) =>
    api.members.invite({ organisation_id: owner.organisationId, role: 'admin', password }),
  'the role admin': (api, { owner, member }, password) =>
    api.members.changeRole({ organisation_id: owner.organisationId, user_id: member, role: 'admin', password }),
  'the role owner': (api, { owner, member }, password) =>
    api.members.changeRole({ organisation_id: owner.organisationId, user_id: member, role: 'owner', password }),
  'an identity': (api, _of, password) => api.accounts.connectIdentity({ password }),
  'another address': (api, _of, password) => api.accounts.changeAddress({ email: newEmail(), password }),
  'the end of the other sessions': (api, _of, password) => api.accounts.endOtherSessions({ password }),
  'a transfer of the ownership': (api, { owner }, password) =>
    api.organisations.transfer({ organisation_id: owner.organisationId, email: newEmail(), password }),
  'the deletion of the organisation': (api, { owner }, password) =>
    api.leaving.deleteOrganisation({ organisation_id: owner.organisationId, password }),
  'the deletion of the account': (api, _of, password) => api.leaving.deleteAccount({ password }),
};

describe.each(Object.entries(powers))('%s', (_name, attempt) => {
  const refusal = (code: string) => ({ cause: { code } });
  /** The codes of what is refused later, for another reason. */
  const passed = ['done', 'VALIDATION', 'PROVIDER_UNAVAILABLE'];
  const outcome = (ended: Promise<unknown>) =>
    ended.then(
      () => 'done',
      (error) => error.cause?.code as string,
    );

  it('needs a fresh session, or the password in the form', async () => {
    const owner = await makeOwner(test, { operator: true });
    await givePlan(test, owner.organisationId, 'gold');
    const member = (await addMember(test, owner.organisationId, 'member')).userId;
    const of = { owner, member, person: (await makeOwner(test)).userId };
    const stolen = await (await browserOf(test, owner)).api();

    await expect(attempt(stolen, of)).rejects.toMatchObject(refusal('FRESH_SIGN_IN_REQUIRED'));
    await expect(attempt(stolen, of, '')).rejects.toMatchObject(refusal('FRESH_SIGN_IN_REQUIRED'));
    await expect(attempt(stolen, of, 'not the pass phrase')).rejects.toMatchObject({
      cause: { code: 'UNAUTHENTICATED', fields: { password: expect.any(String) } },
    });
    expect(passed).toContain(await outcome(attempt(stolen, of, testPassword)));
  });

  it('passes in a fresh session', async () => {
    const owner = await makeOwner(test, { operator: true });
    await givePlan(test, owner.organisationId, 'gold');
    const member = (await addMember(test, owner.organisationId, 'member')).userId;
    const of = { owner, member, person: (await makeOwner(test)).userId };
    const fresh = await (await browserOf(test, owner, { fresh: true })).api();
    expect(passed).toContain(await outcome(attempt(fresh, of)));
  });
});

it('members and viewers are invited without a fresh session', async () => {
  const owner = await makeOwner(test);
  const stolen = await (await browserOf(test, owner)).api();
  await stolen.members.invite({ organisation_id: owner.organisationId, role: 'member' });
});

it('comes before a body that cannot be read, and after the scope', async () => {
  const owner = await makeOwner(test);
  const unreadable = new AppError('NOT_JSON', 'Send the body as JSON.') as never;
  const stolen = await (await browserOf(test, owner)).api();
  await expect(stolen.keys.create(unreadable)).rejects.toMatchObject({ cause: { code: 'FRESH_SIGN_IN_REQUIRED' } });
  const fresh = await (await browserOf(test, owner, { fresh: true })).api();
  await expect(fresh.keys.create(unreadable)).rejects.toMatchObject({ cause: { code: 'NOT_JSON' } });
  await expect(stolen.operators.createKey(unreadable)).rejects.toMatchObject({ cause: { code: 'FORBIDDEN' } });
});

it('the console makes no password link for an operator, oneself included; the command line does', async () => {
  const [operator, other] = [await makeOwner(test, { operator: true }), await makeOwner(test, { operator: true })];
  for (const { userId } of [operator, other]) {
    await expect(operator.api.operators.passwordLink({ user_id: userId })).rejects.toMatchObject({
      cause: { code: 'FORBIDDEN' },
    });
  }
});
