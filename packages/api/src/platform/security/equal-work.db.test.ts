import { createHook } from 'node:async_hooks';
import { hash } from '@node-rs/argon2';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { matchUser } from '../../auth/sign-in/match-user.ts';
import { declineOwner, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeIdentity, makeOwner, makeSignUp, newEmail, testClient } from '../../testing/factories.ts';
import { users } from '../db/schema/accounts.ts';
import { hashPassword, verifyPassword } from './password.ts';
import { normalisePassword } from './password-rules.ts';

let test: TestApp;
let native: string;
beforeAll(async () => {
  test = await startTestApp();
  native = await hashResourceType();
  // The first verification without a password also creates the dummy hash.
  await verifyPassword(null, 'whatever comes', testClient);
});
afterAll(() => test.close());

/** Records the type of every asynchronous resource that Node creates, until `stop` is called. */
function recordResourceTypes(): { kinds: string[]; stop: () => void } {
  const kinds: string[] = [];
  const hook = createHook({ init: (_, kind) => void kinds.push(String(kind)) }).enable();
  return { kinds, stop: () => void hook.disable() };
}

/** Returns the resource type of a hash: the only resource that one creates, apart from its promise. */
async function hashResourceType(): Promise<string> {
  const { kinds, stop } = recordResourceTypes();
  const hashed = hash('an example password');
  stop();
  await hashed;
  const [kind, ...others] = kinds.filter((each) => each !== 'PROMISE');
  if (kind === undefined || others.length > 0) throw new Error(`Hashing is one of ${kinds}.`);
  return kind;
}

async function hashesOf(work: () => Promise<unknown>): Promise<number> {
  const { kinds, stop } = recordResourceTypes();
  await work().catch(() => {});
  stop();
  return kinds.filter((kind) => kind === native).length;
}

const states: Record<string, () => Promise<string>> = {
  unknown: async () => newEmail(),
  'no address': async () => 'nobody',
  unverified: async () => (await makeSignUp(test)).email,
  awaiting: async () => (await makeOwner(test, { approved: false })).email,
  active: async () => (await makeOwner(test)).email,
  async declined() {
    const { email } = await makeOwner(test, { approved: false });
    await declineOwner(test.app, email, 'Not a customer.');
    return email;
  },
  async suspended() {
    const { email } = await makeOwner(test);
    await suspendUser(test.app, email);
    return email;
  },
  async 'identity provider only'() {
    const email = newEmail();
    const identity = makeIdentity({ email });
    await test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
    return email;
  },
};

it.each(Object.keys(states))('compares one hash for a sign-in of an address that is %s', async (state) => {
  const email = (await states[state]?.()) ?? '';
  const { signIn } = callerFor(test, null);
  expect(await hashesOf(() => signIn.withPassword({ email, password: 'not the pass phrase' }))).toBe(1);
});

it.each(Object.keys(states).filter((state) => state !== 'no address'))(
  'computes one hash for a sign-up of an address that is %s',
  async (state) => {
    const email = (await states[state]?.()) ?? '';
    const { accounts } = callerFor(test, null);
    expect(await hashesOf(() => accounts.signUp({ email, password: 'another pass phrase' }))).toBe(1);
  },
);

it('compares one hash to confirm a password, whether the user has one or not', async () => {
  const { api, userId } = await makeOwner(test);
  const change = { current_password: 'not the pass phrase', password: 'another pass phrase' };
  expect(await hashesOf(() => api.accounts.changePassword(change))).toBe(1);
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  expect(await hashesOf(() => api.accounts.changePassword(change))).toBe(1);
});

it('refuses hashes beyond the length of the queue', async () => {
  let busy = 0;
  const done = await hashesOf(async () => {
    const flood = Array.from({ length: 400 }, () => hashPassword(normalisePassword('one of very many'), testClient));
    const ended = await Promise.allSettled(flood);
    busy = ended.filter(({ status }) => status === 'rejected').length;
  });
  expect(busy).toBeGreaterThan(0);
  expect(done + busy).toBe(400);
});
