import { randomBytes } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { passkeys } from '../../platform/db/schema/factors.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { createPasswordLink, suspendUser } from '../../testing/admin-commands.ts';
import { serviceUrl, startTestApp, type TestApp } from '../../testing/app.ts';
import { newAuthenticator } from '../../testing/authenticator.ts';
import { newBrowser } from '../../testing/browser.ts';
import { callerFor, makeOwner, testPassword } from '../../testing/factories.ts';
import { requireNoAttestation } from './passkeys.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
  test.stopClock();
});
afterAll(() => test.close());

const refused = { status: 401, body: { error: 'That passkey was not accepted.' } };

/** A user with a passkey, signed in in a browser. */
async function makeHolder() {
  const owner = await makeOwner(test);
  const browser = newBrowser(test);
  await browser.post('/api/login', { email: owner.email, password: testPassword });
  const authenticator = newAuthenticator(serviceUrl);
  const added = await add(browser, authenticator);
  expect(added).toMatchObject({ status: 200, body: { id: expect.any(String) } });
  return { ...owner, browser, authenticator, added, credentials: { email: owner.email, password: testPassword } };
}

type Browser = ReturnType<typeof newBrowser>;
type Authenticator = ReturnType<typeof newAuthenticator>;

async function add(browser: Browser, authenticator: Authenticator, odd = {}) {
  const { body: options } = await browser.post('/api/factors/passkey/options');
  return browser.post('/api/factors/passkey', { name: 'Laptop', passkey: authenticator.create(options, odd) });
}

async function signIn(browser: Browser, authenticator: Authenticator, odd = {}) {
  const { body: options } = await browser.post('/api/login/passkey/options');
  return browser.post('/api/login/passkey', { passkey: authenticator.get(options, odd) });
}

describe('a passkey', () => {
  it('is added with options that ask for a verified user, and gives recovery codes as the first factor', async () => {
    const { browser, added } = await makeHolder();
    expect(added.body.recovery_codes).toHaveLength(10);
    const { body: options } = await browser.post('/api/factors/passkey/options');
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ type: 'public-key' }],
    });
    const second = await add(browser, newAuthenticator(serviceUrl));
    expect(second.body).toEqual({ id: expect.any(String) });
    expect(await browser.get('/api/factors')).toMatchObject({
      body: {
        passkeys: [{ name: 'Laptop', last_used_at: null }, { name: 'Laptop' }],
        totp: false,
        recovery_codes_left: 10,
      },
    });
  });

  it('opens a fresh session by itself, in any browser', async () => {
    const { authenticator } = await makeHolder();
    const browser = newBrowser(test);
    expect(await signIn(browser, authenticator)).toMatchObject({ status: 200, body: { ok: true } });
    expect(await browser.get('/api/session')).toMatchObject({ status: 200 });
    expect(await browser.post('/api/factors/recovery-codes')).toMatchObject({ status: 200 });
    expect((await browser.trpc('accounts.profile', undefined)).body.sessions).toContainEqual(
      expect.objectContaining({ current: true, started_with: 'passkey' }),
    );
    expect((await browser.get('/api/factors')).body.passkeys[0].last_used_at).toEqual(expect.any(String));
  });

  it('is the second step after the password, of its own user alone', async () => {
    const { credentials, authenticator } = await makeHolder();
    const { authenticator: foreign } = await makeHolder();
    const browser = newBrowser(test);
    expect(await browser.post('/api/login', credentials)).toMatchObject({
      body: { methods: ['passkey', 'recovery_code'] },
    });
    const answer = async (each: Authenticator) => {
      const { body: options } = await browser.post('/api/login/passkey/options');
      return browser.post('/api/login/second-step', { passkey: each.get(options) });
    };
    expect(await answer(foreign)).toMatchObject(refused);
    expect(await answer(authenticator)).toMatchObject({ status: 200 });
    expect(await browser.get('/api/session')).toMatchObject({ status: 200 });
  });

  it('makes a session fresh, of its own user alone', async () => {
    const { browser, authenticator } = await makeHolder();
    const { authenticator: foreign } = await makeHolder();
    test.advance(16 * minuteMilliseconds);
    const answer = async (each: Authenticator) => {
      const { body: options } = await browser.post('/api/login/passkey/options');
      return browser.post('/api/fresh', { passkey: each.get(options) });
    };
    expect(await answer(foreign)).toMatchObject(refused);
    expect((await browser.post('/api/factors/recovery-codes')).status).toBe(403);
    expect(await answer(authenticator)).toMatchObject({ status: 200 });
    expect((await browser.post('/api/factors/recovery-codes')).status).toBe(200);
  });

  it('of a closed account is refused as a password is', async () => {
    const { email, authenticator } = await makeHolder();
    await suspendUser(test.app, email);
    expect(await signIn(newBrowser(test), authenticator)).toMatchObject({
      status: 403,
      body: { error: 'This account is closed.' },
    });
  });

  it('opens no session after a password was set by a link, until the review is answered', async () => {
    const { email, authenticator, added } = await makeHolder();
    const token = new URL(await createPasswordLink(test.app, email)).searchParams.get('token') ?? '';
    const password = 'quite another pass phrase';
    await callerFor(test, null).accounts.setPassword({ token, password });
    expect(await signIn(newBrowser(test), authenticator)).toMatchObject(refused);

    const browser = newBrowser(test);
    await browser.post('/api/login', { email, password });
    const { body: options } = await browser.post('/api/login/passkey/options');
    expect(await browser.post('/api/login/second-step', { passkey: authenticator.get(options) })).toMatchObject({
      status: 200,
    });
    expect((await browser.trpc('factors.review', undefined)).body).toMatchObject({
      pending: true,
      passkeys: [{ name: 'Laptop' }],
    });
    expect(await signIn(newBrowser(test), authenticator)).toMatchObject(refused);
    expect(await browser.trpc('factors.answerReview', { keep: [added.body.id] })).toMatchObject({ status: 200 });
    expect(await signIn(newBrowser(test), authenticator)).toMatchObject({ status: 200 });
  });

  it('that was removed before the review leaves one that the password answers', async () => {
    const { email, authenticator, added } = await makeHolder();
    const token = new URL(await createPasswordLink(test.app, email)).searchParams.get('token') ?? '';
    await callerFor(test, null).accounts.setPassword({ token, password: testPassword });
    const browser = newBrowser(test);
    await browser.post('/api/login', { email, password: testPassword });
    const { body: options } = await browser.post('/api/login/passkey/options');
    await browser.post('/api/login/second-step', { passkey: authenticator.get(options) });
    expect(await browser.post('/api/factors/remove', { id: added.body.id })).toMatchObject({ status: 200 });

    const later = newBrowser(test);
    await later.post('/api/login', { email, password: testPassword });
    expect((await later.trpc('factors.review', undefined)).body).toMatchObject({ pending: true, asks_first: false });
    expect(await later.trpc('factors.answerReview', { keep: [] })).toMatchObject({ status: 200 });
  });

  it('that is not kept in the review is gone, and so are the recovery codes', async () => {
    const { email, authenticator, userId } = await makeHolder();
    const token = new URL(await createPasswordLink(test.app, email)).searchParams.get('token') ?? '';
    await callerFor(test, null).accounts.setPassword({ token, password: testPassword });
    const browser = newBrowser(test);
    await browser.post('/api/login', { email, password: testPassword });
    const { body: options } = await browser.post('/api/login/passkey/options');
    await browser.post('/api/login/second-step', { passkey: authenticator.get(options) });
    test.advance(16 * minuteMilliseconds);
    expect((await browser.trpc('factors.answerReview', { keep: [] })).body.error.data.appCode).toBe(
      'FRESH_SIGN_IN_REQUIRED',
    );
    const { body: again } = await browser.post('/api/login/passkey/options');
    await browser.post('/api/fresh', { passkey: authenticator.get(again) });
    expect(await browser.trpc('factors.answerReview', { keep: [] })).toMatchObject({ status: 200 });
    expect(await browser.get('/api/factors')).toMatchObject({ body: { passkeys: [], recovery_codes_left: 0 } });
    expect(await test.app.db.$count(passkeys, eq(passkeys.userId, userId))).toBe(0);
    expect(await newBrowser(test).post('/api/login', { email, password: testPassword })).toMatchObject({ status: 200 });
  });
});

describe('is refused:', () => {
  it.each([
    ['without user verification', { userVerified: false }],
    ['of another origin', { origin: 'http://localhost:4000' }],
    ['of another host', { rpId: 'example.com' }],
    ['with another user handle', { userHandle: 'AAAA' }],
    ['of another ceremony', { type: 'webauthn.create' }],
  ])('a passkey %s', async (_what, odd) => {
    const { authenticator } = await makeHolder();
    expect(await signIn(newBrowser(test), authenticator, odd)).toMatchObject(refused);
    expect(await signIn(newBrowser(test), authenticator)).toMatchObject({ status: 200 });
  });

  it('the challenge of another browser, of another purpose, one that is over, and one that was used', async () => {
    const { authenticator, browser: own } = await makeHolder();
    const browser = newBrowser(test);
    const { body: options } = await browser.post('/api/login/passkey/options');
    const passkey = authenticator.get(options);
    expect(await newBrowser(test).post('/api/login/passkey', { passkey })).toMatchObject(refused);

    const { body: creation } = await own.post('/api/factors/passkey/options');
    expect(await own.post('/api/login/passkey', { passkey: authenticator.get(creation) })).toMatchObject(refused);

    expect(await browser.post('/api/login/passkey', { passkey })).toMatchObject({ status: 200 });
    expect(await browser.post('/api/login/passkey', { passkey })).toMatchObject(refused);
    const { body: old } = await browser.post('/api/login/passkey/options');
    test.advance(5 * minuteMilliseconds);
    expect(await browser.post('/api/login/passkey', { passkey: authenticator.get(old) })).toMatchObject(refused);
  });

  it('a creation that another user’s options asked for, or without user verification', async () => {
    const { browser } = await makeHolder();
    const { browser: other } = await makeHolder();
    const { body: options } = await other.post('/api/factors/passkey/options');
    const passkey = newAuthenticator(serviceUrl).create(options);
    expect(await browser.post('/api/factors/passkey', { name: 'Laptop', passkey })).toMatchObject(refused);
    expect(await add(browser, newAuthenticator(serviceUrl), { userVerified: false })).toMatchObject(refused);
  });

  it.each([
    ['none', undefined],
    ['packed', undefined],
    ['packed', []],
    ['packed', [Buffer.from('a certificate')]],
    ['android-key', [Buffer.from('a certificate')]],
    ['tpm', [Buffer.from('a certificate')]],
    ['apple', [Buffer.from('a certificate')]],
    ['fido-u2f', [Buffer.from('a certificate')]],
    ['android-safetynet', undefined],
  ])('an attestation of the format %s with the certificates %o, unless it has none', async (format, certificates) => {
    const { browser } = await makeHolder();
    const authenticator = newAuthenticator(serviceUrl);
    const statement = new Map<string, unknown>(certificates && [['x5c', certificates]]);
    const isTaken = certificates === undefined && (format === 'none' || format === 'packed');
    const { body: options } = await browser.post('/api/factors/passkey/options');
    const passkey = authenticator.create(options, { attestation: { format, statement } });
    // Before the library reads the certificates, and requests what they name.
    const checked = requireNoAttestation(passkey.response.attestationObject);
    await (isTaken ? checked : expect(checked).rejects.toThrow('attestation that nobody asked for'));
    const added = await browser.post('/api/factors/passkey', { name: 'Laptop', passkey });
    expect(added).toMatchObject(isTaken ? { status: 200 } : refused);
  });

  it.each([
    [1023, { status: 200 }],
    [1024, refused],
    [6000, refused],
  ])('a credential id of %i bytes: %o', async (bytes, answer) => {
    const { browser } = await makeHolder();
    const credentialId = randomBytes(bytes).toString('base64url');
    expect(await add(browser, newAuthenticator(serviceUrl), { credentialId })).toMatchObject(answer);
  });

  it('a passkey whose counter goes back, from then on', async () => {
    const { authenticator, userId, credentials } = await makeHolder();
    authenticator.countFrom(10);
    expect(await signIn(newBrowser(test), authenticator)).toMatchObject({ status: 200 });
    expect(await signIn(newBrowser(test), authenticator, { counter: 11 })).toMatchObject(refused);
    const [row] = await test.app.db.select().from(passkeys).where(eq(passkeys.userId, userId));
    expect(row).toMatchObject({ counter: 11, refusedAt: expect.any(Date) });
    expect(await signIn(newBrowser(test), authenticator, { counter: 50 })).toMatchObject(refused);
    // It stays a factor, and is no method.
    expect(await newBrowser(test).post('/api/login', credentials)).toMatchObject({
      body: { methods: ['recovery_code'] },
    });
  });

  it('a body that is none', async () => {
    const browser = newBrowser(test);
    for (const passkey of [null, 'x', {}, { id: 'a b', rawId: 'x', type: 'public-key', response: {} }])
      expect((await browser.post('/api/login/passkey', { passkey })).status).toBe(400);
  });

  it('the 21st passkey', async () => {
    const { browser, userId } = await makeHolder();
    const [first] = await test.app.db.select().from(passkeys).where(eq(passkeys.userId, userId));
    if (first === undefined) throw new Error('no passkey');
    const others = Array.from({ length: 19 }, (_, at) => ({
      ...first,
      id: crypto.randomUUID(),
      credentialId: `${userId}-${at}`,
    }));
    await test.app.db.insert(passkeys).values(others);
    expect(await browser.post('/api/factors/passkey/options')).toMatchObject({ status: 409 });
  });
});

it('the options write nothing, and the cookie is kept', async () => {
  const browser = newBrowser(test);
  const [one, two] = [
    await browser.post('/api/login/passkey/options'),
    await browser.post('/api/login/passkey/options'),
  ];
  expect(one.body).toEqual({
    challenge: expect.any(String),
    rpId: 'localhost',
    userVerification: 'required',
    timeout: expect.any(Number),
  });
  expect(one.body.challenge).not.toBe(two.body.challenge);
  const cookie = browser.cookie('challenge');
  await browser.post('/api/login/passkey/options');
  expect(browser.cookie('challenge')).toBe(cookie);
  const forged = newBrowser(test, { kept: { challenge: 'chosen by a page' } });
  await forged.post('/api/login/passkey/options');
  expect(forged.cookie('challenge')).not.toBe('chosen by a page');
});

it('each user has one random handle', async () => {
  const [one, other] = [await makeHolder(), await makeHolder()];
  const handles = await test.app.db.select({ id: users.id, handle: users.passkeyHandle }).from(users);
  const of = (userId: string) => handles.find(({ id }) => id === userId)?.handle;
  expect(of(one.userId)).toMatch(/^[\w-]{43}$/);
  expect(of(one.userId)).not.toBe(of(other.userId));
});
