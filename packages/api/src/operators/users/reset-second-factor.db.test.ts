import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readActivity } from '../../audit/read-activity.ts';
import { takeCode } from '../../auth/factors/check-code.ts';
import { useRecoveryCode } from '../../auth/factors/recovery-codes.ts';
import { requireReview } from '../../auth/factors/review.ts';
import { knownBrowsers, users } from '../../platform/db/schema/accounts.ts';
import { recoveryCodes, totpSecrets } from '../../platform/db/schema/factors.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { newBrowser } from '../../testing/browser.ts';
import { callerFor, makeOwner, testClient, testPassword } from '../../testing/factories.ts';
import { addTotp, nextCode } from '../../testing/factors.ts';
import { commandLine } from '../actor.ts';
import { checkOperators } from '../doctor/check-service.ts';
import { listOperatorsWithoutFactor, readOperatorsWithoutFactor } from '../list-operators-without-factor.ts';
import { resetSecondFactor } from './reset-second-factor.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
  test.stopClock();
});
afterAll(() => test.close());

it('a reset takes factors, recovery codes, trust, sessions and begun sign-ins away, and the password opens a session', async () => {
  const { email, userId, api } = await makeOwner(test);
  const { secret } = await addTotp(test, api);
  const credentials = { email, password: testPassword };
  const [browser, between] = [newBrowser(test), newBrowser(test)];
  for (const each of [browser, between])
    expect(await each.post('/api/login', credentials)).toMatchObject({ status: 401 });
  const step = { totp: await nextCode(test, secret), trust: true };
  expect(await browser.post('/api/login/second-step', step)).toMatchObject({ status: 200 });

  // Later than the sign-in, because the activity is read in order of time.
  test.advance(1000);
  await resetSecondFactor(test.app, { userId }, commandLine);
  expect(await browser.get('/api/session')).toMatchObject({ status: 401 });
  expect(await between.post('/api/login/second-step', { totp: await nextCode(test, secret) })).toMatchObject({
    status: 401,
    body: { error: 'Sign in again.' },
  });
  expect(await test.app.db.$count(recoveryCodes, eq(recoveryCodes.userId, userId))).toBe(0);
  const trusted = await test.app.db.select().from(knownBrowsers).where(eq(knownBrowsers.userId, userId));
  expect(trusted.map(({ trustedUntil }) => trustedUntil)).toEqual([null]);

  expect((await readActivity(test.app.db, userId))[0]).toMatchObject({ action: 'second-factor-reset' });
  expect(await between.post('/api/login', credentials)).toMatchObject({ status: 200 });
  expect(await between.get('/api/factors')).toMatchObject({ body: { totp: false, recovery_codes_left: 0 } });
});

it('a reset ends a review that only a factor could answer', async () => {
  const { userId, api } = await makeOwner(test);
  await addTotp(test, api);
  await test.app.db.transaction((tx) => requireReview(test.app, tx, userId));
  await resetSecondFactor(test.app, { userId }, commandLine);
  const [user] = await test.app.db.select().from(users).where(eq(users.id, userId));
  expect(user?.reviewSince).toBeNull();
});

it('a user without a second factor is named, and nothing changes', async () => {
  const { userId, email, api } = await makeOwner(test);
  const refusal = { code: 'VALIDATION', message: `${email} has no second factor.` };
  await expect(resetSecondFactor(test.app, { userId }, commandLine)).rejects.toMatchObject(refusal);
  expect(await api.factors.list()).toMatchObject({ totp: false });
});

describe('in the console', () => {
  /** An operator whose session is fresh by a factor of their own. */
  async function operatorWith(changed: object = {}) {
    const { principal } = await makeOwner(test, { operator: true });
    const freshUntil = new Date(test.app.now().getTime() + 60_000);
    return callerFor(test, { ...principal, hasFactor: true, freshByFactor: true, freshUntil, ...changed });
  }

  it('an operator who is fresh by a factor resets that of a user', async () => {
    const { userId, api } = await makeOwner(test);
    await addTotp(test, api);
    const operator = await operatorWith();
    expect(await operator.operators.person({ user_id: userId })).toMatchObject({ has_factor: true });
    await operator.operators.resetSecondFactor({ user_id: userId });
    expect(await operator.operators.person({ user_id: userId })).toMatchObject({ has_factor: false });
  });

  it.each([
    ['without a factor of their own', { hasFactor: false }, 'FORBIDDEN'],
    ['in a session that is not fresh', { freshUntil: null }, 'FRESH_SIGN_IN_REQUIRED'],
    ['in a session that is fresh by the password alone', { freshByFactor: false }, 'FRESH_SIGN_IN_REQUIRED'],
  ])('an operator %s does not', async (_, changed, code) => {
    const { userId, api } = await makeOwner(test);
    await addTotp(test, api);
    const operator = await operatorWith(changed);
    await expect(operator.operators.resetSecondFactor({ user_id: userId })).rejects.toMatchObject({ cause: { code } });
    expect(await operator.operators.person({ user_id: userId })).toMatchObject({ has_factor: true });
  });

  it('nobody resets that of an operator', async () => {
    const { userId, api } = await makeOwner(test, { operator: true });
    await addTotp(test, api);
    await expect((await operatorWith()).operators.resetSecondFactor({ user_id: userId })).rejects.toMatchObject({
      cause: { code: 'FORBIDDEN' },
    });
  });
});

describe('operators without a factor', () => {
  it('are named in the console where they must have one, and by the doctor', async () => {
    const [without, lost, has] = await Promise.all([1, 2, 3].map(() => makeOwner(test, { operator: true })));
    await addTotp(test, has?.api as never);
    await addTotp(test, lost?.api as never);
    await test.app.db
      .update(totpSecrets)
      .set({ encryptedBy: 'lost' })
      .where(eq(totpSecrets.userId, lost?.userId ?? ''));
    const named = (await listOperatorsWithoutFactor(test.app)).map(({ email }) => email);
    expect(named).toEqual(expect.arrayContaining([without?.email, lost?.email]));
    expect(named).not.toContain(has?.email);

    expect(await without?.api.operators.withoutFactor()).toEqual([]);
    const required = { ...test.app, config: { ...test.app.config, secondFactor: 'operators' as const } };
    expect(await readOperatorsWithoutFactor(required, without?.principal as never)).toHaveLength(named.length);
    expect(await checkOperators(test.app)).toMatchObject([{ level: 'note' }]);
    expect(await checkOperators(required)).toMatchObject([{ level: 'wrong' }]);
  });
});

it('home warns of few recovery codes, and of many wrong ones', async () => {
  const { userId, api, principal } = await makeOwner(test);
  expect(await api.factors.warnings()).toEqual({ few_recovery_codes: false, many_wrong_codes: false });
  const { recoveryCodes: codes } = await addTotp(test, api);
  const own = callerFor(test, { ...principal, hasFactor: true });
  expect(await own.factors.warnings()).toEqual({ few_recovery_codes: false, many_wrong_codes: false });
  for (const code of codes.slice(0, 7)) await test.app.db.transaction((tx) => useRecoveryCode(tx, userId, code));
  expect(await own.factors.warnings()).toEqual({ few_recovery_codes: true, many_wrong_codes: false });
  const check = { userId, codes: { recovery_code: 'wrong' }, browserHash: '', client: testClient };
  for (let count = 0; count < 20; count++) await test.app.db.transaction((tx) => takeCode(test.app, tx, check));
  expect(await own.factors.warnings()).toEqual({ few_recovery_codes: true, many_wrong_codes: true });
  test.advance(86_400_000);
  expect(await own.factors.warnings()).toEqual({ few_recovery_codes: true, many_wrong_codes: false });
});
