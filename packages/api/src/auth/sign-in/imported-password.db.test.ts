import { hash as bcrypt } from '@node-rs/bcrypt';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { isImported, storedForm } from '../../platform/security/imported-hash.ts';
import { suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { deleteExpired } from '../delete-expired.ts';
import { isKnownBrowser } from '../sessions/known-browser.ts';
import { openSession } from './open-session.ts';
import { signInWithPassword } from './with-password.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: false });
});
afterAll(() => test.close());
// One that stays would make the sign-ins of the next test take turns.
afterEach(() => test.app.sql`update users set password_hash = null where password_hash like 'imported:%'`);

const typed = 'pass phrase é';
const salt = '00112233445566778899aabbccddeeff';
const foreign: [name: string, hash: string, format?: string][] = [
  ['bcrypt', '$2b$05$abcdefghijklmnopqrstuuVOFKqCVLDuGlQCeJza3EicKp0N6sqQa'],
  ['Django', 'pbkdf2_sha256$1000$seasalt2$d1ZL7Gf7rxVSNgunnPUWMC1AH9JVWCgqgk8m9lxLqwY='],
  [
    'passlib',
    '$pbkdf2-sha512$1000$AAECAwQFBgcICQoLDA0ODw$yQyaL.00PDIXDiVYu8iVKFk4A3ctAm2KKSIIdbMs5YD/3gR5RdbmmliDJ44bkvRNlLeRwli2OS.3Rn8Wm80W.A',
  ],
  [
    'better-auth',
    `${salt}:51e828d227469ba36665dfe017bb09fcb50c3a3667c6c33edb060ff3b2dc4440ba40c593e4df2849556ac62030bb7b20407e440a64c3f0eb21896708781be662`,
    'better-auth',
  ],
  ['scrypt', `${salt}:590122d7979142682fcee07bc983b03fe6bebdfd79231516e384382f42d189f7`, 'scrypt:1024:8:2'],
];

/** Creates a user whose password another system hashed. */
async function makeImported(hash?: string, format?: string) {
  const owner = await makeOwner(test);
  const passwordHash = storedForm({ hash: hash ?? (await bcrypt(typed, { cost: 4 })), format }, '2026-11-27');
  await test.app.db.update(users).set({ passwordHash }).where(eq(users.id, owner.userId));
  return owner;
}

async function hashOf(userId: string): Promise<string | null> {
  const [row] = await test.app.db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, userId));
  return row?.hash ?? null;
}

const signIn = (email: string, password = typed, knownBrowser: string | null = null) =>
  signInWithPassword(test.app, { email, password }, { ...testClient, knownBrowser });

/** Returns the error of a sign-in that is refused, and how long it took in milliseconds. */
async function refusal(email: string, password = 'not the pass phrase', knownBrowser: string | null = null) {
  const began = performance.now();
  const error = await signIn(email, password, knownBrowser).catch((refused) => refused);
  return { code: error.code, took: performance.now() - began };
}

describe('a password of another system', () => {
  it.each(foreign)('in a hash of %s signs in, and is hashed anew by the first sign-in', async (_name, hash, format) => {
    const { email, userId } = await makeImported(hash, format);
    expect((await refusal(email)).code).toBe('UNAUTHENTICATED');
    expect(isImported((await hashOf(userId)) ?? '')).toBe(true);

    const signedIn = await signIn(email);
    expect(signedIn).toMatchObject({ userId, passwordHash: await hashOf(userId) });
    expect(await hashOf(userId)).toMatch(/^\$argon2id\$/);
    expect(await openSession(test.app, signedIn, testClient)).toMatchObject({ kind: 'session' });
    expect(await signIn(email)).toMatchObject({ userId });
  });

  it('lets two sign-ins at once in', async () => {
    const { email, userId } = await makeImported();
    const { token } = await knownBrowserOf(email, userId);
    await test.app.db
      .update(users)
      .set({ passwordHash: storedForm({ hash: await bcrypt(typed, { cost: 4 }) }, '2026-11-27') })
      .where(eq(users.id, userId));
    const both = await Promise.all([signIn(email), signIn(email, typed, token)]);
    for (const each of both) expect(each).toMatchObject({ userId, passwordHash: await hashOf(userId) });
  });

  it('stays as it is while the account is closed', async () => {
    const { email, userId } = await makeImported();
    await suspendUser(test.app, email);
    await expect(signIn(email)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(isImported((await hashOf(userId)) ?? '')).toBe(true);
  });

  it('is dropped RETENTION_DAYS after the import', async () => {
    const { userId } = await makeImported();
    const at = (days: number) => new Date(Date.parse('2026-11-27T12:00:00Z') + days * dayMilliseconds);
    await deleteExpired({ ...test.app, now: () => at(400) });
    expect(await hashOf(userId)).not.toBeNull();
    await deleteExpired({ ...test.app, now: () => at(401) });
    expect(await hashOf(userId)).toBeNull();
  });
});

async function knownBrowserOf(email: string, userId: string) {
  const signedIn = await signIn(email);
  const opened = await openSession(test.app, signedIn, testClient);
  if (opened.kind !== 'session') throw new Error('There is a second step.');
  const token = opened.browserToken;
  expect(await isKnownBrowser(test.app, test.app.db, { email, token })).toBe(true);
  return { token, userId };
}

describe('while such a password is stored', () => {
  it('a refused sign-in is answered after a full second, whatever the address', async () => {
    const [imported, own] = [await makeImported(), await makeOwner(test)];
    const dear = await makeImported(await bcrypt(typed, { cost: 12 }));
    const addresses = [imported.email, own.email, dear.email, newEmail(), newEmail(), 'no address'];
    const answers = await Promise.all(addresses.map((email) => refusal(email)));
    for (const { code, took } of answers) {
      expect(code).toBe('UNAUTHENTICATED');
      // In full seconds: the comparison may take longer than one on a busy machine.
      expect(took).toBeGreaterThanOrEqual(999);
      // A timer may fire a part of a millisecond early.
      expect((took + 1) % 1000).toBeLessThan(900);
    }
  });

  it('sign-ins to one address take turns, the seventh at a time is refused at once, and others do not wait', async () => {
    const [{ email }, other] = [await makeImported(), await makeOwner(test)];
    for (const address of [email, newEmail()]) {
      const began = performance.now();
      const answers = Array.from({ length: 8 }, () => refusal(address));
      expect(await signIn(other.email, testPassword)).toMatchObject({ userId: other.userId });
      const refusals = await Promise.all(answers);
      expect(performance.now() - began).toBeGreaterThanOrEqual(5990);
      const turns = refusals.filter(({ code }) => code === 'UNAUTHENTICATED').map(({ took }) => took);
      expect(turns).toHaveLength(6);
      for (const [at, took] of turns.sort((a, b) => a - b).entries())
        expect(took).toBeGreaterThanOrEqual(at * 1000 + 990);
      const late = refusals.filter(({ code }) => code === 'TOO_MANY');
      expect(late).toHaveLength(2);
      for (const { took } of late) expect(took).toBeLessThan(900);
    }
  }, 40_000);

  it('a browser that signed in before has a turn of its own', async () => {
    const { email, userId } = await makeOwner(test);
    const opened = await openSession(test.app, await signIn(email, testPassword), testClient);
    const known = opened.kind === 'session' ? opened.browserToken : null;
    await makeImported();
    const others = Array.from({ length: 5 }, () => refusal(email));
    expect(await signIn(email, testPassword, known)).toMatchObject({ userId });
    const [first] = await Promise.all(others);
    expect(first?.took).toBeGreaterThanOrEqual(999);
  });
});

it('without one no sign-in waits', async () => {
  const { email } = await makeOwner(test);
  const answers = await Promise.all(Array.from({ length: 8 }, () => refusal(email)));
  for (const { code } of answers) expect(code).toBe('UNAUTHENTICATED');
  expect(Math.min(...answers.map(({ took }) => took))).toBeLessThan(900);
});
