import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readActivity } from '../../audit/read-activity.ts';
import { requireReview } from '../../auth/factors/review.ts';
import { knownBrowsers, users } from '../../platform/db/schema/accounts.ts';
import { recoveryCodes } from '../../platform/db/schema/factors.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { newBrowser } from '../../testing/browser.ts';
import { makeOwner, testPassword } from '../../testing/factories.ts';
import { addTotp, nextCode } from '../../testing/factors.ts';
import { commandLine } from '../actor.ts';
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
