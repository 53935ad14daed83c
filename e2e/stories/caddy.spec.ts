import { test } from '@playwright/test';
import { hasCaddy, readmesSite, startCaddy } from '../support/caddy.ts';
import { freePort } from '../support/free-port.ts';
import { checkGuarded, checkWaiting, startEcho } from '../support/guarded.ts';
import { type Service, startService } from '../support/service.ts';

test.skip(!hasCaddy, 'There is no Caddy on this machine.');
test.setTimeout(120_000);

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
  const caddy = await startCaddy(port, readmesSite({ port, gatehouse: service.baseUrl, upstream: product.url }));
  ends.push(caddy.stop);
});
test.afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

test('the README’s Caddy redirects requests without a session to sign-in, and back', async ({ page, playwright }) => {
  await checkGuarded({ service, guarded }, page, playwright);
});

test('the README’s Caddy redirects a user who awaits approval to Gatehouse', async ({ playwright }) => {
  await checkWaiting({ service, guarded }, playwright);
});
