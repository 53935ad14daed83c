import http from 'node:http';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { expect, type Page, type PlaywrightWorkerArgs } from '@playwright/test';
import { makeOwner, passPhrase } from '../people.ts';
import { type Service, startService, test } from '../service.ts';
import { listenLocally } from './listen-locally.ts';

type GuardedProduct = { service: Service; guarded: string };
type Playwright = PlaywrightWorkerArgs['playwright'];

type Addresses = { port: number; gatehouse: string; upstream: string };

/** Declares the stories of one of the proxy configurations of docs/proxies.md, in front of a product without accounts. */
export function testProxy(name: string, start: (at: Addresses) => Promise<{ stop: () => Promise<void> }>): void {
  let service: Service;
  let guarded: string;
  const ends: (() => Promise<unknown>)[] = [];

  test.beforeAll(async () => {
    const product = await startEcho();
    ends.push(product.stop);
    const port = await freePort();
    guarded = `http://localhost:${port}`;
    service = await startService({ environment: { RETURN_ORIGINS: guarded } });
    ends.push(service.stop);
    const proxy = await start({ port, gatehouse: service.baseUrl, upstream: product.url });
    ends.push(proxy.stop);
  });
  test.afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  test(`the documented ${name} redirects requests without a session to sign-in, and back`, async ({
    page,
    playwright,
  }) => {
    await checkGuarded({ service, guarded }, page, playwright);
  });

  test(`the documented ${name} redirects a user who awaits approval to Gatehouse`, async ({ playwright }) => {
    await checkWaiting({ service, guarded }, playwright);
  });
}

/** Starts a product without accounts that answers with the request it received. */
export async function startEcho(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = http.createServer(({ method, url, headers }, response) =>
    response.end(JSON.stringify({ method, url, headers })),
  );
  const { port, stop } = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    stop,
  };
}

/**
 * Checks that a proxy lets no request through to the product without a session, that it redirects to
 * sign-in and back, and that the product receives the headers of Gatehouse.
 */
async function checkGuarded({ service, guarded }: GuardedProduct, page: Page, playwright: Playwright): Promise<void> {
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const email = await makeOwner(service, request);
  const wanted = `${guarded}/orders?page=2&name=a%26b`;

  await page.goto(wanted);
  await expect(page).toHaveURL(`${service.baseUrl}/login?return_to=${wanted}`);
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(wanted);

  const session = await (await page.request.get(`${service.baseUrl}/api/session`)).json();
  const seen = await (await page.request.get(wanted)).json();
  expect(seen.url).toBe('/orders?page=2&name=a%26b');
  expect(seen.headers).toMatchObject({
    'x-gatehouse-user': session.user.id,
    'x-gatehouse-organisation': session.organisation.id,
    'x-gatehouse-scopes': 'READ WRITE ADMIN',
  });

  await test.step('headers that a client forges are overwritten, and a POST is passed on with its body', async () => {
    const claimed = {
      'x-gatehouse-user': 'forged',
      'x-gatehouse-organisation': 'else',
      'x-gatehouse-scopes': 'ADMIN',
    };
    const underscored = ['x_gatehouse_user', 'x-gatehouse_scopes', 'X_Gatehouse-Organisation'];
    const answer = await page.request.post(`${guarded}/orders`, {
      headers: { ...claimed, ...Object.fromEntries(underscored.map((name) => [name, 'claimed'])) },
      data: { a: 1 },
    });
    const { method, headers } = await answer.json();
    expect(Object.keys(headers).filter((name) => /^x.gatehouse/.test(name) && name.includes('_'))).toEqual([]);
    expect([method, headers['content-length']]).toEqual(['POST', '7']);
    expect(Object.keys(claimed).map((name) => headers[name])).toEqual([
      session.user.id,
      session.organisation.id,
      'READ WRITE ADMIN',
    ]);
  });

  await test.step('after sign-out the next request is redirected', async () => {
    await page.request.post(`${service.baseUrl}/api/logout`);
    const answer = await page.request.get(wanted, { maxRedirects: 0 });
    expect([answer.status(), answer.headers().location]).toEqual([302, `${service.baseUrl}/login?return_to=${wanted}`]);
  });
  await request.dispose();
}

/** Checks that a user who awaits approval is redirected to Gatehouse. */
async function checkWaiting({ service, guarded }: GuardedProduct, playwright: Playwright): Promise<void> {
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const email = await makeOwner(service, request, { approved: false });
  await request.post('/api/login', { data: { email, password: passPhrase } });
  const answer = await request.get(`${guarded}/orders`, { maxRedirects: 0 });
  expect([answer.status(), answer.headers().location]).toEqual([302, `${service.baseUrl}/`]);
  await request.dispose();
}
