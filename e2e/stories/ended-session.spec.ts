import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { APIRequestContext } from '@playwright/test';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { cookiesOf, makeOwner, passPhrase } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { expect, type Service, test } from '../support/service.ts';

const asForm = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

/** Returns what signs a new owner in, and the Cookie header of a first session. */
async function newSession(service: Service, request: APIRequestContext) {
  const email = await makeOwner(service, request);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ email, password: passPhrase });
  const signIn = async () => cookiesOf(await send(service, '/api/login', { method: 'POST', headers, body }));
  return { signIn, cookie: await signIn() };
}

test('a form whose body arrives after its session has ended changes nothing', async ({ context, service }) => {
  const { signIn, cookie } = await newSession(service, context.request);
  const body = 'name=Late';
  const late = http.request(`${service.baseUrl}/account?/changeName`, {
    method: 'POST',
    headers: { ...asForm, cookie, 'content-length': body.length },
  });
  late.write(body.slice(0, 1));
  await once(late, 'socket');
  expect((await send(service, '/api/logout', { method: 'POST', headers: { cookie } })).status).toBe(200);

  late.end(body.slice(1));
  const [answer] = (await once(late, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.headers.location ?? '').not.toBe('/account');
  const session = await send(service, '/api/session', { headers: { cookie: await signIn() } });
  expect(JSON.parse(session.text).user.name).toBeNull();
});

test('a sign-out whose form is too large answers 413 and ends no session, whether or not it names its length', async ({
  context,
  service,
}) => {
  const { cookie } = await newSession(service, context.request);
  const body = 'x'.repeat(70_000);
  for (const headers of [
    { ...asForm, cookie },
    { ...asForm, cookie, 'transfer-encoding': 'chunked' },
  ]) {
    expect((await send(service, '/logout', { method: 'POST', headers, body })).status).toBe(413);
    expect((await send(service, '/api/session', { headers: { cookie } })).status).toBe(200);
  }
  const signedOut = await send(service, '/logout', { method: 'POST', headers: { ...asForm, cookie }, body: 'a=b' });
  expect([signedOut.status, signedOut.headers.location]).toEqual([303, '/login']);
  expect((await send(service, '/api/session', { headers: { cookie } })).status).toBe(401);
});

test('a wrong password is told as one in a browser that still has the cookie of an ended session', async ({
  context,
  service,
}) => {
  const { cookie } = await newSession(service, context.request);
  expect((await send(service, '/api/logout', { method: 'POST', headers: { cookie } })).status).toBe(200);
  const body = String(new URLSearchParams({ email: 'mia@larch.example', password: 'not the pass phrase' }));
  const answer = await send(service, '/login', { method: 'POST', headers: { ...asForm, cookie }, body });
  expect(answer.status).toBe(401);
  expect(answer.text).toContain('E-mail or password is wrong.');
  expect(answer.text).not.toContain('You have been signed out.');
});

test('a link of a page whose session has ended stores the page to return to when it is clicked, not when it is pointed at', async ({
  context,
  page,
  service,
}) => {
  const email = await makeOwner(service, context.request);
  await context.request.post('/api/login', { data: { email, password: passPhrase } });
  await page.goto('/members');
  await scriptsRun(page);
  const cookies = await context.cookies();
  await context.addCookies(
    cookies.map((cookie) => (cookie.name === 'session' ? { ...cookie, value: 'ended' } : cookie)),
  );
  const storesReturnPage = async () => (await context.cookies()).some(({ name }) => name === 'return');

  const billing = page.getByRole('link', { name: 'Billing' }).first();
  const preloaded = page.waitForResponse((response) => response.url().includes('/billing/__data.json'));
  await billing.hover();
  await preloaded;
  expect(await storesReturnPage()).toBe(false);

  await billing.click();
  await expect(page).toHaveURL('/login');
  expect(await storesReturnPage()).toBe(true);
});

test('the data of a page whose session has ended store nothing and lead to a load of the page, which does', async ({
  service,
}) => {
  const cookie = 'session=ended';
  const data = await send(service, '/members/__data.json?after=1', { headers: { cookie } });
  expect(JSON.parse(data.text)).toMatchObject({
    type: 'redirect',
    location: '/auth/reload?page=%2Fmembers%3Fafter%3D1',
  });
  expect(data.headers['set-cookie']).toBeUndefined();

  const page = await send(service, '/members?after=1', { headers: { cookie } });
  expect([page.status, page.headers.location]).toEqual([302, '/login']);
  expect(page.headers['set-cookie']?.join()).toMatch(/return=.*notice=/);
});

test('a page that is loaded again leads to no other site', async ({ service }) => {
  for (const [wanted, location] of [
    ['/members?after=1', '/members?after=1'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['https://evil.example/', '/'],
    ['javascript:alert(1)', '/'],
  ] as const) {
    const answer = await send(service, `/auth/reload?${new URLSearchParams({ page: wanted })}`);
    expect([wanted, answer.status, answer.headers.location]).toEqual([wanted, 302, location]);
  }
});
