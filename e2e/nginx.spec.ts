import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { freePort } from './free-port.ts';
import { hasNginx, readmesServer, startNginx } from './nginx.ts';
import { makeOwner, passPhrase } from './people.ts';
import { type Service, startService } from './service.ts';

test.skip(!hasNginx(), 'There is no nginx with auth_request on this machine.');
test.setTimeout(120_000);

let service: Service;
let guarded: string;
const ends: (() => Promise<unknown>)[] = [];

test.beforeAll(async () => {
  // A product that knows nothing of accounts: it shows which headers reached it.
  const product = http.createServer(({ method, url, headers }, response) =>
    response.end(JSON.stringify({ method, url, headers })),
  );
  product.listen(0, '127.0.0.1');
  await once(product, 'listening');
  const upstream = `http://127.0.0.1:${(product.address() as AddressInfo).port}`;
  ends.push(async () => product.close());

  const port = await freePort();
  guarded = `http://localhost:${port}`;
  service = await startService({ environment: { RETURN_ORIGINS: guarded } });
  ends.push(service.stop);
  const nginx = await startNginx(port, readmesServer({ port, gatehouse: service.baseUrl, upstream }));
  ends.push(nginx.stop);
});
test.afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

test('the README’s nginx lets nobody through but sends them to sign in, and back', async ({ page, playwright }) => {
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const email = await makeOwner(service, request);
  const wanted = `${guarded}/orders?page=2&name=a%26b`;

  await page.goto(wanted);
  await expect(page).toHaveURL(`${service.baseUrl}/login?return_to=${wanted}`);
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(page).toHaveURL(wanted);

  const session = await (await page.request.get(`${service.baseUrl}/api/session`)).json();
  const seen = await (await page.request.get(wanted)).json();
  expect(seen.url).toBe('/orders?page=2&name=a%26b');
  expect(seen.headers).toMatchObject({
    'x-gatehouse-user': session.user.id,
    'x-gatehouse-organisation': session.organisation.id,
    'x-gatehouse-scopes': 'READ WRITE ADMIN',
  });

  await test.step('what a client claims of itself is overwritten, and a post goes through with its body', async () => {
    const claimed = {
      'x-gatehouse-user': 'somebody',
      'x-gatehouse-organisation': 'else',
      'x-gatehouse-scopes': 'ADMIN',
    };
    const answer = await page.request.post(`${guarded}/orders`, { headers: claimed, data: { a: 1 } });
    const { method, headers } = await answer.json();
    expect([method, headers['content-length'], headers['x-gatehouse-user']]).toEqual(['POST', '7', session.user.id]);
  });

  await test.step('signed out is out with the next request', async () => {
    await page.request.post(`${service.baseUrl}/api/logout`);
    const answer = await page.request.get(wanted, { maxRedirects: 0 });
    expect([answer.status(), answer.headers().location]).toEqual([302, `${service.baseUrl}/login?return_to=${wanted}`]);
  });
});

test('somebody at a shut gate is led to where they wait', async ({ playwright }) => {
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });
  const email = await makeOwner(service, request, { approved: false });
  await request.post('/api/login', { data: { email, password: passPhrase } });
  const answer = await request.get(`${guarded}/orders`, { maxRedirects: 0 });
  expect([answer.status(), answer.headers().location]).toEqual([302, `${service.baseUrl}/`]);
});
