import { storeReturnPath } from '@gatehouse/api/auth/sign-in/return-url';
import { cookieJar, writeCookie } from '@gatehouse/api/http/cookies';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { testClient } from '@gatehouse/api/testing/factories';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { notify, takeNotice } from './notice.ts';
import { redirectToReturnUrl } from './return-url.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** A request for the page / of a browser that has a notice and a return URL, with what it has been sent so far. */
function eventOf(cookies: ReturnType<typeof cookieJar>, method: string, headers: Record<string, string> = {}) {
  const url = new URL('http://localhost:3999/');
  const locals = { app: test.app, client: testClient } as unknown as App.Locals;
  return { url, locals, cookies, request: new Request(url, { method, headers }) } as unknown as Parameters<
    typeof redirectToReturnUrl
  >[0];
}

const session = { sessionId: crypto.randomUUID() };

it.each([
  ['HEAD', {}],
  ['GET', { 'sec-purpose': 'prefetch' }],
  ['GET', { 'sec-purpose': 'prefetch;prerender' }],
  ['GET', { 'x-moz': 'prefetch' }],
])('%s %j consumes neither the notice nor the return URL: the page itself does', async (method, headers) => {
  const cookies = cookieJar(undefined);
  notify(eventOf(cookies, 'POST'), { text: ['Saved.'] } as unknown as Parameters<typeof notify>[1]);
  const returning = await storeReturnPath(test.app, { path: '/members', replaced: null }, testClient);
  writeCookie(test.app, cookies, 'return', returning ?? '');

  const early = eventOf(cookies, method, headers);
  expect(takeNotice(early)).toBeNull();
  await redirectToReturnUrl(early, session);

  const page = eventOf(cookies, 'GET');
  expect(takeNotice(page)).toMatchObject({ text: ['Saved.'] });
  await expect(redirectToReturnUrl(page, session)).rejects.toMatchObject({ status: 302, location: '/members' });
});
