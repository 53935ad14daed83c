import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { knownBrowsers } from '../../platform/db/schema/accounts.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { deleteExpired } from '../delete-expired.ts';
import { isKnownBrowser, tokenForBrowser } from './known-browser.ts';
import { deleteSession, readSession, startSession } from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

type Made = { email: string; userId: string; organisationId: string };

/** Signs in from a browser that sends this cookie, and returns the cookie that it receives. */
async function signIn({ userId, organisationId }: Made, sent: string | null, at = test) {
  const { token, hash: browserHash } = await tokenForBrowser(at.app, sent);
  const session = await startSession(at.app, { userId, organisationId, browserHash, client: testClient });
  return { token, session };
}

function isKnown(email: string, token: string | null, at = test) {
  return isKnownBrowser(at.app, at.app.db, { email, token });
}

it('a browser is known to every account that signed in from it, also after sign-out, and to no other', async () => {
  const [one, other, third] = [await makeOwner(test), await makeOwner(test), await makeOwner(test)];
  const first = await signIn(one, null);
  await deleteSession(test.app, first.session);
  const second = await signIn(other, first.token);
  expect(second.token).toBe(first.token);

  expect(await isKnown(one.email, first.token)).toBe(true);
  expect(await isKnown(other.email, first.token)).toBe(true);
  expect(await isKnown(third.email, first.token)).toBe(false);
  expect(await isKnown(newEmail(), first.token)).toBe(false);
  expect(await isKnown(one.email, null)).toBe(false);
});

it('stores no token that the service did not issue, and only hashes of tokens, which open no session', async () => {
  const made = await makeOwner(test);
  const { token } = await signIn(made, 'a value that was planted');
  expect(token).not.toBe('a value that was planted');
  expect(await readSession(test.app, token)).toBeNull();

  const rows = await test.app.db.select().from(knownBrowsers).where(eq(knownBrowsers.userId, made.userId));
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(await isKnown(made.email, rows[0]?.tokenHash ?? '')).toBe(false);
});

it('keeps the twenty browsers of a user that signed in last, also after parallel sign-ins', async () => {
  const made = await makeOwner(test);
  const first = await signIn(made, null);
  test.advance(1000);
  await Promise.all(Array.from({ length: 30 }, () => signIn(made, null)));
  expect(await test.app.db.$count(knownBrowsers, eq(knownBrowsers.userId, made.userId))).toBe(20);
  expect(await isKnown(made.email, first.token)).toBe(false);
});

it('a known browser is deleted with the account', async () => {
  const made = await makeOwner(test);
  await signIn(made, null);
  await made.api.leaving.deleteAccount({ password: testPassword });
  expect(await test.app.db.$count(knownBrowsers, eq(knownBrowsers.userId, made.userId))).toBe(0);
});

it('a browser is known for 400 days after the last sign-in, and is then deleted', async () => {
  const late = await startTestApp();
  const made = await makeOwner(late);
  const { token } = await signIn(made, null, late);
  late.advance(399 * dayMilliseconds);
  expect(await isKnown(made.email, token, late)).toBe(true);
  expect((await signIn(made, token, late)).token).toBe(token);
  late.advance(399 * dayMilliseconds);
  expect(await isKnown(made.email, token, late)).toBe(true);

  late.advance(2 * dayMilliseconds);
  expect(await isKnown(made.email, token, late)).toBe(false);
  await deleteExpired(late.app);
  expect(await late.app.db.$count(knownBrowsers)).toBe(0);
  expect((await signIn(made, token, late)).token).not.toBe(token);
  await late.close();
});
