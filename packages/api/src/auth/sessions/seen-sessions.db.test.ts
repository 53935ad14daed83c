import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPasswordLink } from '../../testing/admin-commands.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeOwner, testClient } from '../../testing/factories.ts';
import { tokenForBrowser } from './known-browser.ts';
import { readSession, readSharedSession, shareSession, startSession } from './session.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const hours = 60 * 60_000;

async function signIn({ userId, organisationId }: Awaited<ReturnType<typeof makeOwner>>, browserHash?: string) {
  const client = { ...testClient, userAgent: 'Another browser' };
  return startSession(test.app, { userId, organisationId, browserHash: browserHash ?? null, client });
}

describe('a session that is not used', () => {
  it('ends after twelve hours if it is an operator’s, by either token, and not before', async () => {
    const operator = await makeOwner(test, { operator: true });
    const [used, idle] = [await signIn(operator), await signIn(operator)];
    const shared = await shareSession(test.app, idle);
    test.advance(12 * hours - 60_000);
    expect(await readSession(test.app, used)).not.toBeNull();
    test.advance(60_000);
    expect(await readSharedSession(test.app, shared)).toBeNull();
    expect(await readSession(test.app, idle)).toBeNull();
    expect(await readSession(test.app, used)).not.toBeNull();
  });

  it('goes on if it is another user’s', async () => {
    const session = await signIn(await makeOwner(test));
    test.advance(13 * hours);
    expect(await readSession(test.app, session)).not.toBeNull();
  });
});

it('lists browser, address, how it began and the last use, at most ten minutes old', async () => {
  const owner = await makeOwner(test);
  const session = await signIn(owner);
  const listed = async () => {
    const profile = await callerFor(test, await readSession(test.app, session)).accounts.profile();
    return profile.sessions.find(({ current }) => current);
  };
  const begun = await listed();
  expect(begun).toMatchObject({ user_agent: 'Another browser', client: '127.0.0.1', started_with: 'password' });
  test.advance(9 * 60_000);
  expect((await listed())?.last_used_at).toBe(begun?.last_used_at);
  test.advance(2 * 60_000);
  const later = (await listed())?.last_used_at ?? '';
  expect(Date.parse(later) - Date.parse(begun?.last_used_at ?? '')).toBeGreaterThan(10 * 60_000);
});

describe('a sign-in from a browser not seen before', () => {
  it('is told in every other browser until the user acknowledges it, after it signed out too', async () => {
    const owner = await makeOwner(test);
    const [own, thief] = [await tokenForBrowser(test.app, null), await tokenForBrowser(test.app, null)];
    await signIn(owner, own.hash);
    test.advance(1000);
    const from = (knownBrowser: string) => callerFor(test, owner.principal, { knownBrowser }).accounts;
    // The first browser of a user is no news, nor is another sign-in there.
    await signIn(owner, own.hash);
    expect(await from(thief.token).newBrowsers()).toEqual([]);

    const session = await signIn(owner, thief.hash);
    expect(await from(own.token).newBrowsers()).toMatchObject([{ user_agent: 'Another browser', client: '127.0.0.1' }]);
    await callerFor(test, await readSession(test.app, session)).signIn.out();

    // It cannot answer for itself.
    expect(await from(thief.token).newBrowsers()).toEqual([]);
    await from(thief.token).acknowledgeBrowsers();
    expect(await from(own.token).newBrowsers()).toHaveLength(1);
    await from(own.token).acknowledgeBrowsers();
    expect(await from(own.token).newBrowsers()).toEqual([]);
    await signIn(owner, thief.hash);
    expect(await from(own.token).newBrowsers()).toEqual([]);
  });

  it('is not acknowledged by another new browser, by one that is not known, or by its own', async () => {
    const owner = await makeOwner(test);
    const browsers = [];
    for (let index = 0; index < 3; index++) {
      const browser = await tokenForBrowser(test.app, null);
      await signIn(owner, browser.hash);
      test.advance(1000);
      browsers.push(browser.token);
    }
    const [own = '', first = '', second = ''] = browsers;
    const from = (knownBrowser: string | null) => callerFor(test, owner.principal, { knownBrowser }).accounts;
    const seenIn = async (token: string) => (await from(token).newBrowsers()).map((each) => each.acknowledgeable);

    expect(await seenIn(own)).toEqual([true, true]);
    expect([await seenIn(second), await seenIn(first)]).toEqual([[false], [true]]);
    for (const token of [second, null, 'invented']) await from(token).acknowledgeBrowsers();
    expect(await seenIn(own)).toEqual([true, true]);
    // The earlier one may answer for the later one, and stays news itself.
    await from(first).acknowledgeBrowsers();
    expect(await seenIn(own)).toEqual([true]);
  });

  it('is no news any more once a link in a mail has set a new password', async () => {
    const owner = await makeOwner(test);
    const own = await tokenForBrowser(test.app, null);
    await signIn(owner, own.hash);
    await signIn(owner, (await tokenForBrowser(test.app, null)).hash);
    const news = () => callerFor(test, owner.principal, { knownBrowser: own.token }).accounts.newBrowsers();
    expect(await news()).toHaveLength(1);
    const token = new URL(await createPasswordLink(test.app, owner.email)).searchParams.get('token') ?? '';
    await callerFor(test, null).accounts.setPassword({ token, password: 'another long pass phrase' });
    expect(await news()).toEqual([]);
  });
});
