import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { tokenForBrowser } from '../../auth/sessions/known-browser.ts';
import { startSession } from '../../auth/sessions/session.ts';
import { verifyEmail } from '../../auth/verification/verify-email.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { inBatches, secondsToWait } from '../../testing/attempts.ts';
import { callerFor, makeOwner, newEmail, testClient, testPassword, tokenIn } from '../../testing/factories.ts';
import { rateLimits } from '../db/schema/deployment.ts';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ environment: { RATE_LIMITS: 'on', RETURN_ORIGINS: 'https://product.example' } });
});

afterAll(() => test.close());

beforeEach(() => test.app.db.delete(rateLimits));

const wrongPassword = (client: string, email: string) =>
  callerFor(test, null, { client }).signIn.withPassword({ email, password: 'not the pass phrase' });

let subnets = 0;

/** The addresses of an IPv6 /64 that has not counted in any limit. They are one client. */
function newSubnet(): (host: number) => string {
  subnets += 1;
  const prefix = `2001:db8:${subnets.toString(16)}:1`;
  return (host) => `${prefix}::${host.toString(16)}`;
}

it('allows a known browser to sign in, however many attempts fail elsewhere', async () => {
  const { email, userId, organisationId } = await makeOwner(test);
  const { token: knownBrowser, hash: browserHash } = await tokenForBrowser(test.app, null);
  await startSession(test.app, { userId, organisationId, browserHash, client: testClient });
  const signIn = (browser: string | null, password = testPassword, client = newSubnet()(1)) =>
    callerFor(test, null, { client, knownBrowser: browser }).signIn.withPassword({ email, password });

  await inBatches(100, () => secondsToWait(signIn(null, 'not the pass phrase')));
  expect(await secondsToWait(signIn(null))).not.toBeNull();
  expect(await secondsToWait(signIn('a token that was never issued'))).not.toBeNull();
  expect(await signIn(knownBrowser)).toEqual({ ok: true });

  // A known browser is not exempt from the limit of address and client, nor from the limits of the client.
  const client = newSubnet()(1);
  for (let wrong = 0; wrong < 10; wrong++)
    expect(await secondsToWait(signIn(knownBrowser, 'not it', client))).toBeNull();
  expect(await secondsToWait(signIn(knownBrowser, testPassword, client))).not.toBeNull();
  // The browser is known to this account alone.
  const otherOwner = await makeOwner(test);
  await inBatches(100, () => secondsToWait(wrongPassword(newSubnet()(1), otherOwner.email)));
  const asked = callerFor(test, null, { client: newSubnet()(1), knownBrowser });
  expect(
    await secondsToWait(asked.signIn.withPassword({ email: otherOwner.email, password: testPassword })),
  ).not.toBeNull();
});

it('allows a known browser to confirm a change of address, however many attempts fail elsewhere', async () => {
  const { email, userId, organisationId, api } = await makeOwner(test);
  const { token: knownBrowser, hash: browserHash } = await tokenForBrowser(test.app, null);
  await startSession(test.app, { userId, organisationId, browserHash, client: testClient });
  const address = newEmail();
  await api.accounts.changeAddress({ email: address, password: testPassword });
  const mail = await test.sandbox.mailbox.waitFor(address);
  const opened = { token: tokenIn(mail.text), browserToken: null, sessionToken: null };
  const outcome = await verifyEmail(test.app, opened, testClient);
  const token = 'changeToken' in outcome ? outcome.changeToken : '';
  await inBatches(100, () => secondsToWait(wrongPassword(newSubnet()(1), email)));
  const confirm = (browser: string | null) =>
    callerFor(test, null, { client: newSubnet()(1), knownBrowser: browser }).accounts.confirmChange({
      token,
      password: testPassword,
    });
  expect(await secondsToWait(confirm(null))).not.toBeNull();
  expect(await confirm(knownBrowser)).toMatchObject({ ok: true });
});

it('limits the guesses with a known browser’s cookie that was copied to many clients', async () => {
  const { email, userId, organisationId } = await makeOwner(test);
  const { token: knownBrowser, hash: browserHash } = await tokenForBrowser(test.app, null);
  await startSession(test.app, { userId, organisationId, browserHash, client: testClient });
  const guess = () =>
    callerFor(test, null, { client: newSubnet()(1), knownBrowser }).signIn.withPassword({ email, password: 'not it' });
  expect((await inBatches(100, () => secondsToWait(guess()))).filter((wait) => wait !== null)).toEqual([]);
  expect(await secondsToWait(guess())).not.toBeNull();
});

it('allows a signed-in user to confirm the password, however many attempts fail elsewhere', async () => {
  const { email, api } = await makeOwner(test);
  await inBatches(100, () => secondsToWait(wrongPassword(newSubnet()(1), email)));
  const password = 'another pass phrase';
  expect(await api.accounts.changePassword({ current_password: testPassword, password })).toMatchObject({ ok: true });
});
