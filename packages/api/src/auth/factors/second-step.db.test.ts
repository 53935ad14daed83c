import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { users } from '../../platform/db/schema/accounts.ts';
import { recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { hourMilliseconds, minuteMilliseconds } from '../../platform/durations.ts';
import { restoreOrganisation, suspendOrganisation, suspendUser } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { newBrowser } from '../../testing/browser.ts';
import { waitingForLocks } from '../../testing/database/waiting-for-locks.ts';
import { makeOwner, testPassword } from '../../testing/factories.ts';
import { nextCode } from '../../testing/factors.ts';
import { lockUser } from '../sessions/account.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
  test.stopClock();
});
afterAll(() => test.close());

const codeOf = (secret: string) => nextCode(test, secret);

/** A user with an authenticator app, signed in in a browser. */
async function makeProtected(options: Parameters<typeof makeOwner>[1] = {}) {
  const owner = await makeOwner(test, options);
  const credentials = { email: owner.email, password: testPassword };
  const browser = newBrowser(test);
  expect(await browser.post('/api/login', credentials)).toMatchObject({ status: 200 });
  const { secret } = (await browser.post('/api/factors/totp')).body;
  const confirmed = await browser.post('/api/factors/totp/confirm', { totp: await codeOf(secret) });
  expect(confirmed).toMatchObject({ status: 200, body: { recovery_codes: expect.any(Array) } });
  return { ...owner, credentials, browser, secret, codes: confirmed.body.recovery_codes as string[] };
}

const wrong = { status: 401, body: { error: 'That code is wrong.', code: 'UNAUTHENTICATED' } };
const again = { status: 401, body: { error: 'Sign in again.' } };

describe('an authenticator app', () => {
  it('is not offered to be confirmed later than 15 minutes after it was begun', async () => {
    const { email } = await makeOwner(test);
    const browser = newBrowser(test);
    await browser.post('/api/login', { email, password: testPassword });
    const { secret } = (await browser.post('/api/factors/totp')).body;
    test.advance(16 * minuteMilliseconds);
    await browser.post('/api/fresh', { password: testPassword });
    expect((await browser.trpc('factors.totpSetup', undefined)).body).toBeNull();
    const late = { totp: await codeOf(secret) };
    expect(await browser.post('/api/factors/totp/confirm', late)).toMatchObject(wrong);
  });

  it('is a factor once its first code is given, which gives ten recovery codes and ends other sessions', async () => {
    const { email } = await makeOwner(test);
    const [browser, other] = [newBrowser(test), newBrowser(test)];
    for (const each of [browser, other]) await each.post('/api/login', { email, password: testPassword });
    const { body: setup } = await browser.post('/api/factors/totp');
    expect(setup).toMatchObject({ secret: expect.stringMatching(/^[A-Z2-7]{32}$/), uri: expect.any(String) });
    expect(await browser.get('/api/factors')).toMatchObject({
      body: { passkeys: [], totp: false, recovery_codes_left: 0 },
    });

    expect(await browser.post('/api/factors/totp/confirm', { totp: '000000' })).toMatchObject(wrong);
    const { body } = await browser.post('/api/factors/totp/confirm', { totp: await codeOf(setup.secret) });
    expect(body.recovery_codes).toHaveLength(10);
    for (const code of body.recovery_codes) expect(code).toMatch(/^[A-Z2-7]{16}$/);
    expect(await browser.get('/api/factors')).toMatchObject({ body: { totp: true, recovery_codes_left: 10 } });
    expect(await other.get('/api/session')).toMatchObject({ status: 401 });
    const stored = JSON.stringify([
      await test.app.db.select().from(totpSecrets),
      await test.app.db.select().from(recoveryCodes),
    ]);
    expect(stored).not.toContain(setup.secret);
    expect(stored).not.toContain(body.recovery_codes[0]);
  });

  it('is replaced only once the new one is confirmed', async () => {
    const { browser, secret, credentials } = await makeProtected();
    const { secret: next } = (await browser.post('/api/factors/totp')).body;
    const before = newBrowser(test);
    await before.post('/api/login', credentials);
    expect(await before.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject({ status: 200 });
    expect(await browser.post('/api/factors/totp/confirm', { totp: await codeOf(next) })).toEqual(
      expect.objectContaining({ status: 200, body: {} }),
    );
    await before.post('/api/login', credentials);
    expect(await before.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject(wrong);
    expect(await before.post('/api/login/second-step', { totp: await codeOf(next) })).toMatchObject({ status: 200 });
  });

  it('needs SECRET_KEY, and a fresh session', async () => {
    const plain = await startTestApp({ environment: { SECRET_KEY: '' } });
    const { api } = await makeOwner(plain);
    await expect(api.factors.totp()).rejects.toMatchObject({ cause: { code: 'CONFLICT' } });
    plain.advance(16 * minuteMilliseconds);
    for (const call of [api.factors.totp, api.factors.recoveryCodes])
      await expect(call()).rejects.toMatchObject({ cause: { code: 'FRESH_SIGN_IN_REQUIRED' } });
    await plain.close();
  });

  it('whose secret cannot be decrypted stays a factor, is no method, and leads past nothing', async () => {
    const { userId, credentials, codes } = await makeProtected();
    await test.app.db.update(totpSecrets).set({ encryptedBy: 'lost' }).where(eq(totpSecrets.userId, userId));
    const browser = newBrowser(test);
    expect(await browser.post('/api/login', credentials)).toMatchObject({
      status: 401,
      body: { code: 'SECOND_FACTOR_REQUIRED', methods: ['recovery_code'] },
    });
    expect(await browser.post('/api/login/second-step', { recovery_code: codes[0] })).toMatchObject({ status: 200 });
    await test.app.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
    expect(await newBrowser(test).post('/api/login', credentials)).toMatchObject({
      status: 401,
      body: { methods: [] },
    });
  });

  it('that is removed takes recovery codes with it, and sign-in is as before', async () => {
    const { userId, browser, credentials } = await makeProtected();
    expect(await browser.post('/api/factors/remove', { id: 'totp' })).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(await test.app.db.$count(recoveryCodes, eq(recoveryCodes.userId, userId))).toBe(0);
    expect(await newBrowser(test).post('/api/login', credentials)).toMatchObject({ status: 200 });
    expect(await browser.post('/api/factors/remove', { id: 'totp' })).toMatchObject({ status: 404 });
  });
});

describe('the second step', () => {
  it('follows the right password, and opens the session', async () => {
    const { credentials, secret } = await makeProtected();
    const browser = newBrowser(test);
    expect(await browser.post('/api/login', { ...credentials, password: 'a wrong pass phrase' })).toMatchObject({
      status: 401,
      body: { error: 'E-mail or password is wrong.' },
    });
    expect(browser.cookies()).toEqual([]);
    expect(await browser.post('/api/login', credentials)).toEqual({
      status: 401,
      headers: expect.anything(),
      body: { error: 'Enter your second factor.', code: 'SECOND_FACTOR_REQUIRED', methods: ['totp', 'recovery_code'] },
    });
    expect(browser.cookies()).toEqual(['step']);
    expect(await browser.get('/api/session')).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });

    const code = await codeOf(secret);
    expect(await browser.post('/api/login/second-step', { totp: code })).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(browser.cookies()).toEqual(['known', 'session']);
    expect(await browser.get('/api/session')).toMatchObject({ status: 200 });

    // The attempt is over, and the code has been used.
    expect(await browser.post('/api/login/second-step', { totp: code })).toMatchObject(again);
    const other = newBrowser(test);
    await other.post('/api/login', credentials);
    expect(await other.post('/api/login/second-step', { totp: code })).toMatchObject(wrong);
  });

  it('of 20 parallel requests with one code one succeeds', async () => {
    const { credentials, secret } = await makeProtected();
    const browsers = Array.from({ length: 20 }, () => newBrowser(test));
    for (const browser of browsers) await browser.post('/api/login', credentials);
    const totp = await codeOf(secret);
    const answers = await Promise.all(browsers.map((browser) => browser.post('/api/login/second-step', { totp })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('takes each recovery code once, however it is typed', async () => {
    const { credentials, codes } = await makeProtected();
    const browser = newBrowser(test);
    await browser.post('/api/login', credentials);
    const typed = (codes[0] ?? '').toLowerCase().replace(/(.{4})/g, '$1- ');
    expect(await browser.post('/api/login/second-step', { recovery_code: typed })).toMatchObject({ status: 200 });
    await browser.post('/api/login', credentials);
    expect(await browser.post('/api/login/second-step', { recovery_code: codes[0] })).toMatchObject(wrong);
    expect((await browser.post('/api/login/second-step', {})).status).toBe(400);
    expect(await browser.post('/api/login/second-step', { recovery_code: codes[1] })).toMatchObject({ status: 200 });
  });

  it('without an attempt, after ten minutes, and after ten wrong answers begins again', async () => {
    const { credentials, secret, codes } = await makeProtected();
    const browser = newBrowser(test);
    expect(await browser.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject(again);
    await browser.post('/api/login', credentials);
    test.advance(10 * minuteMilliseconds);
    expect(await browser.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject(again);

    await browser.post('/api/login', credentials);
    for (let count = 0; count < 10; count++)
      expect(await browser.post('/api/login/second-step', { recovery_code: 'wrong' })).toMatchObject(wrong);
    expect(await browser.post('/api/login/second-step', { recovery_code: codes[0] })).toMatchObject(again);
  });

  it('ends with a new password and a suspension, which answers as ever', async () => {
    const { credentials, codes, browser: own, email, secret } = await makeProtected();
    const [one, two] = [newBrowser(test), newBrowser(test)];
    await one.post('/api/login', credentials);
    expect(
      await own.trpc('accounts.changePassword', {
        current_password: testPassword,
        password: 'quite another pass phrase',
      }),
    ).toMatchObject({ status: 200 });
    expect(await one.post('/api/login/second-step', { recovery_code: codes[0] })).toMatchObject(again);

    await two.post('/api/login', { email, password: 'quite another pass phrase' });
    await suspendUser(test.app, email);
    expect(await two.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject({
      status: 403,
      body: { error: 'This account is closed.' },
    });
  });

  it('acts for another organisation where the one of the first step was suspended since', async () => {
    const { credentials, secret, userId, principal } = await makeProtected();
    const other = await makeOwner(test);
    await test.app.db
      .insert(memberships)
      .values({ userId, organisationId: other.organisationId, role: 'member', createdAt: test.app.now() });
    const browser = newBrowser(test);
    await browser.post('/api/login', credentials);
    await suspendOrganisation(test.app, principal.organisation?.slug ?? '');
    expect(await browser.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject({ status: 200 });
    expect(await browser.get('/api/session')).toMatchObject({ body: { organisation: { id: other.organisationId } } });
  });

  it('refuses codes of the app after 20 wrong ones in an hour, and still takes recovery codes', async () => {
    const { credentials, codes, secret, browser: known } = await makeProtected();
    const browser = newBrowser(test);
    for (let attempt = 0; attempt < 2; attempt++) {
      await browser.post('/api/login', credentials);
      for (let count = 0; count < 10; count++)
        expect(await browser.post('/api/login/second-step', { totp: '000000' })).toMatchObject(wrong);
    }
    await browser.post('/api/login', credentials);
    const refused = await browser.post('/api/login/second-step', { totp: await codeOf(secret) });
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);
    // A browser that signed in before counts apart.
    await known.post('/api/login', credentials);
    expect(await known.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject({ status: 200 });
    expect(await browser.post('/api/login/second-step', { recovery_code: codes[0] })).toMatchObject({ status: 200 });

    const later = newBrowser(test);
    test.advance(hourMilliseconds);
    await later.post('/api/login', credentials);
    expect(await later.post('/api/login/second-step', { totp: await codeOf(secret) })).toMatchObject({ status: 200 });
  });

  it('begins 60 times in ten minutes', async () => {
    const { credentials, browser: known } = await makeProtected();
    const browser = newBrowser(test);
    for (let count = 0; count < 60; count++)
      expect((await browser.post('/api/login', credentials)).body.code).toBe('SECOND_FACTOR_REQUIRED');
    expect(await browser.post('/api/login', credentials)).toMatchObject({ status: 429 });
    expect((await known.post('/api/login', credentials)).body.code).toBe('SECOND_FACTOR_REQUIRED');
    test.advance(10 * minuteMilliseconds);
    expect((await browser.post('/api/login', credentials)).body.code).toBe('SECOND_FACTOR_REQUIRED');
  });
});

it('a sign-in while the first factor is set up asks for it', async () => {
  const { email, userId } = await makeOwner(test);
  const [own, other] = [newBrowser(test), newBrowser(test)];
  const credentials = { email, password: testPassword };
  await own.post('/api/login', credentials);
  const { secret } = (await own.post('/api/factors/totp')).body;
  const totp = await codeOf(secret);
  const both = await test.app.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const confirming = own.post('/api/factors/totp/confirm', { totp });
    await waitingForLocks(test, 1);
    const signingIn = other.post('/api/login', credentials);
    await waitingForLocks(test, 2);
    return { confirming, signingIn };
  });
  expect(await both.confirming).toMatchObject({ status: 200 });
  expect(await both.signingIn).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' } });
});

describe('a trusted browser', () => {
  async function trusting(options: Parameters<typeof makeOwner>[1] = {}) {
    const made = await makeProtected(options);
    const trusted = newBrowser(test);
    await trusted.post('/api/login', made.credentials);
    expect(await trusted.post('/api/login/second-step', { recovery_code: made.codes[0], trust: true })).toMatchObject({
      status: 200,
    });
    return { ...made, trusted };
  }

  it('skips the step for 30 days, and its session is not fresh', async () => {
    const { trusted, credentials } = await trusting();
    expect(await trusted.post('/api/login', credentials)).toMatchObject({ status: 200 });
    expect(await trusted.post('/api/factors/totp')).toMatchObject({
      status: 403,
      body: { code: 'FRESH_SIGN_IN_REQUIRED' },
    });
    test.advance(30 * 24 * hourMilliseconds);
    expect(await trusted.post('/api/login', credentials)).toMatchObject({ body: { code: 'SECOND_FACTOR_REQUIRED' } });
  });

  it('has a new token, and a copy of the old one skips nothing', async () => {
    const { codes, credentials } = await makeProtected();
    const browser = newBrowser(test);
    await browser.post('/api/login', credentials);
    await browser.post('/api/login/second-step', { recovery_code: codes[0] });
    const copy = browser.copy();
    await browser.post('/api/login', credentials);
    await browser.post('/api/login/second-step', { recovery_code: codes[1], trust: true });
    expect(await copy.post('/api/login', credentials)).toMatchObject({ body: { code: 'SECOND_FACTOR_REQUIRED' } });
    expect(await browser.post('/api/login', credentials)).toMatchObject({ status: 200 });
  });

  it('of an operator is none', async () => {
    const { trusted, credentials } = await trusting({ operator: true });
    expect(await trusted.post('/api/login', credentials)).toMatchObject({ body: { code: 'SECOND_FACTOR_REQUIRED' } });
  });

  it.each([
    [
      'a new password',
      ({ browser }) =>
        browser.trpc('accounts.changePassword', { current_password: testPassword, password: testPassword }),
    ],
    [
      'a factor that is replaced',
      async ({ browser }) => {
        const { secret } = (await browser.post('/api/factors/totp')).body;
        await browser.post('/api/factors/totp/confirm', { totp: await codeOf(secret) });
      },
    ],
    [
      'a suspension of the only organisation',
      async ({ principal, trusted, credentials, codes }) => {
        const between = newBrowser(test);
        await between.post('/api/login', credentials);
        const slug = principal.organisation?.slug ?? '';
        await suspendOrganisation(test.app, slug);
        expect(await trusted.post('/api/login', credentials)).toMatchObject({ status: 403 });
        await restoreOrganisation(test.app, slug);
        expect(await between.post('/api/login/second-step', { recovery_code: codes[1] })).toMatchObject(again);
      },
    ],
    ['the end of all other sessions', ({ browser }) => browser.trpc('accounts.endOtherSessions', {})],
  ] satisfies [string, (made: Awaited<ReturnType<typeof trusting>>) => Promise<unknown>][])(
    'ends with %s',
    async (_what, act) => {
      const made = await trusting();
      await act(made);
      expect(await made.trusted.post('/api/login', made.credentials)).toMatchObject({
        body: { code: 'SECOND_FACTOR_REQUIRED' },
      });
    },
  );
});

describe('a fresh sign-in', () => {
  it('asks for the password first, then for a code, and gives the session a new id', async () => {
    const { browser, secret } = await makeProtected();
    test.advance(16 * minuteMilliseconds);
    expect(await browser.post('/api/factors/totp')).toMatchObject({ body: { code: 'FRESH_SIGN_IN_REQUIRED' } });
    const copy = browser.copy();
    const totp = await codeOf(secret);
    expect(await browser.post('/api/fresh', { password: 'a wrong pass phrase', totp })).toMatchObject({
      status: 401,
      body: { error: 'E-mail or password is wrong.' },
    });
    expect(await browser.post('/api/fresh', { password: testPassword })).toMatchObject({
      status: 401,
      body: { code: 'SECOND_FACTOR_REQUIRED', methods: ['totp', 'recovery_code'] },
    });
    expect(await browser.post('/api/fresh', { password: testPassword, totp: '000000' })).toMatchObject(wrong);
    expect(await browser.post('/api/fresh', { totp })).toMatchObject({ status: 400 });
    expect(await browser.post('/api/fresh', { password: testPassword, totp })).toMatchObject({ status: 200 });
    expect(await browser.post('/api/factors/totp')).toMatchObject({ status: 200 });
    expect(await copy.get('/api/session')).toMatchObject({ status: 401 });
  });

  it('is what a form with the password does, with a code', async () => {
    const { browser, secret } = await makeProtected();
    test.advance(16 * minuteMilliseconds);
    const end = (more: object) => browser.trpc('accounts.endOtherSessions', { password: testPassword, ...more });
    expect((await end({})).body.error.data.appCode).toBe('SECOND_FACTOR_REQUIRED');
    expect((await end({ totp: '000000' })).body.error.message).toBe('That code is wrong.');
    expect(await end({ totp: await codeOf(secret) })).toMatchObject({ status: 200 });
  });
});

it('a user without a factor meets nothing new', async () => {
  const { email, userId } = await makeOwner(test);
  const browser = newBrowser(test);
  expect(await browser.post('/api/login', { email, password: testPassword })).toMatchObject({ status: 200 });
  expect(browser.cookies()).toEqual(['known', 'session']);
  test.advance(16 * minuteMilliseconds);
  expect(await browser.post('/api/fresh', { password: testPassword })).toMatchObject({ status: 200 });
  const [row] = await test.app.db.select().from(users).where(eq(users.id, userId));
  expect(row).toMatchObject({ reviewSince: null, passkeyHandle: null });
});
