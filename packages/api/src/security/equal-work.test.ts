import { createHook } from 'node:async_hooks';
import { hash } from '@node-rs/argon2';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { users } from '../db/schema/accounts.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { declineOwner, suspendUser } from '../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { callerFor, makeIdentity, makeOwner, makeSignUp, newEmail, testClient } from '../testing/factories.ts';
import { hashPassword, verifyPassword } from './password.ts';

let test: TestApp;
let native: string;
beforeAll(async () => {
  test = await startTestApp();
  native = await nameOfHashing();
  // The hash that stands in where there is none is made once, by whoever comes first.
  await verifyPassword(null, 'whatever comes', testClient);
});
afterAll(() => test.close());

/** Notes every asynchronous thing that begins, by the name that Node gives to its kind, until it is told to stop. */
function noteKinds(): { kinds: string[]; stop: () => void } {
  const kinds: string[] = [];
  const hook = createHook({ init: (_, kind) => void kinds.push(String(kind)) }).enable();
  return { kinds, stop: () => void hook.disable() };
}

/** Hashing is native work: all that a bare hash begins before anything else has its turn, beside its promise. */
async function nameOfHashing(): Promise<string> {
  const { kinds, stop } = noteKinds();
  const hashed = hash('only to see what it is called');
  stop();
  await hashed;
  const [kind, ...others] = kinds.filter((each) => each !== 'PROMISE');
  if (kind === undefined || others.length > 0) throw new Error(`Hashing is one of ${kinds}.`);
  return kind;
}

async function hashesOf(work: () => Promise<unknown>): Promise<number> {
  const { kinds, stop } = noteKinds();
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
  'makes one hash for a sign-up of an address that is %s',
  async (state) => {
    const email = (await states[state]?.()) ?? '';
    const { accounts } = callerFor(test, null);
    expect(await hashesOf(() => accounts.signUp({ email, password: 'another pass phrase' }))).toBe(1);
  },
);

it('compares one hash where a session confirms itself, with a password or without', async () => {
  const { api, userId } = await makeOwner(test);
  const change = { current_password: 'not the pass phrase', password: 'another pass phrase' };
  expect(await hashesOf(() => api.accounts.changePassword(change))).toBe(1);
  await test.app.db.update(users).set({ passwordHash: null }).where(eq(users.id, userId));
  expect(await hashesOf(() => api.accounts.changePassword(change))).toBe(1);
});

it('turns a flood of hashes away, so that the rest of the service goes on', async () => {
  let busy = 0;
  const done = await hashesOf(async () => {
    const flood = Array.from({ length: 400 }, () => hashPassword('one of very many', testClient));
    const ended = await Promise.allSettled(flood);
    busy = ended.filter(({ status }) => status === 'rejected').length;
  });
  expect(busy).toBeGreaterThan(0);
  expect(done + busy).toBe(400);
}, 60_000);
