import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@gatehouse/api/testing/free-ports';
import type { Browser, Page } from '@playwright/test';
import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { startWorld, type World } from '../support/processes/production-world.ts';
import { type ServiceProcess, startServed } from '../support/processes/served.ts';
import { documentedBlocks } from '../support/servers/documented.ts';
import { startEcho } from '../support/servers/guarded.ts';
import { documentedOneHost, hasNginx, startNginx } from '../support/servers/nginx.ts';
import { hasOpenssl, makeCertificate } from '../support/servers/tls-proxy.ts';
import { expect, test } from '../support/service.ts';

const forms = [
  { name: 'the product at a path of Gatehouse’s host', pathsOf: 'product', wanted: '/app/orders?page=2&name=a%26b' },
  { name: 'Gatehouse at its paths of the product’s host', pathsOf: 'gatehouse', wanted: '/orders?page=2&name=a%26b' },
] as const;

test.describe('over https', () => {
  test.skip(!hasNginx(), 'There is no nginx with auth_request on this machine.');
  test.skip(!hasOpenssl(), 'There is no openssl on this machine to make a certificate.');

  let world: World;
  let served: ServiceProcess;
  let browser: Browser;
  let origin = '';
  const ends: (() => Promise<unknown>)[] = [];

  test.beforeAll(async ({ playwright, launchOptions }) => {
    const [port, inner] = [await freePort(), await freePort()];
    origin = `https://company.test:${port}`;
    world = await startWorld(`http://localhost:${inner}`);
    ends.push(world.stop);
    served = await startServed(inner, {
      ...world.environment,
      PUBLIC_BASE_URL: origin,
      RETURN_ORIGINS: origin,
      SERVICE_URL: `${origin}/app/`,
      TRUSTED_PROXIES: '1',
    });
    ends.push(served.stop);
    const args = [...(launchOptions.args ?? []), '--host-resolver-rules=MAP company.test 127.0.0.1'];
    browser = await playwright.chromium.launch({ ...launchOptions, args });
    ends.push(() => browser.close());
  });
  test.afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  for (const form of forms) {
    test(`${form.name}: to sign-in and back, with the session’s own cookie`, async () => {
      const product = await startEcho();
      const nginx = await startNginx(Number(new URL(origin).port), server(form.pathsOf, product.url));
      const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) complaints.push(message.text());
      });

      try {
        const email = await signUp(page);
        const wanted = `${origin}${form.wanted}`;
        await page.goto(wanted);
        await expect(page).toHaveURL(`${origin}/login?return_to=${wanted}`);
        await page.getByLabel('E-mail', { exact: true }).fill(email);
        await page.getByLabel('Password', { exact: true }).fill(passPhrase);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Continue', exact: true }).click();
        await expect(page).toHaveURL(wanted);

        const seen = JSON.parse((await page.locator('body').textContent()) ?? '');
        expect(seen.url).toBe(form.wanted);
        expect(seen.headers).toMatchObject({
          'x-gatehouse-user': expect.stringMatching(/^[0-9a-f-]{36}$/),
          'x-gatehouse-scopes': 'READ WRITE ADMIN',
        });
        const cookies = await context.cookies();
        expect(cookies.map(({ name }) => name).sort()).toEqual(['__Host-known', '__Host-session']);
        for (const cookie of cookies) expect(cookie).toMatchObject({ secure: true, httpOnly: true, path: '/' });

        await page.goto(`${origin}/`);
        await expect(page).toHaveURL(`${origin}/`);
        await page.getByRole('link', { name: 'Billing' }).first().click();
        await expect(page.getByRole('heading', { name: 'Free', level: 2 })).toBeVisible();
        await page.getByRole('link', { name: 'Home' }).first().click();
        await page.getByRole('link', { name: 'Open' }).click();
        await expect(page).toHaveURL(`${origin}/app/`);

        await page.goto(`${origin}/account`);
        await page.getByRole('button', { name: 'Sign out' }).first().click();
        await expect(page).toHaveURL(`${origin}/login`);
        await page.goto(wanted);
        await expect(page).toHaveURL(`${origin}/login?return_to=${wanted}`);
        expect(complaints).toEqual([]);
      } finally {
        await context.close();
        await nginx.stop();
        await product.stop();
      }
    });
  }

  function server(pathsOf: 'product' | 'gatehouse', upstream: string): string {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-one-host-'));
    ends.push(async () => fs.rmSync(folder, { recursive: true, force: true }));
    const { key, cert } = makeCertificate('company.test');
    fs.writeFileSync(path.join(folder, 'key'), key);
    fs.writeFileSync(path.join(folder, 'cert'), cert);
    const certificate = `ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key;`;
    const listen = `listen 127.0.0.1:${new URL(origin).port} ssl; ${certificate}`;
    const gatehouse = `http://127.0.0.1:${served.port}`;
    return documentedOneHost({ listen, name: 'company.test', gatehouse, upstream }, pathsOf);
  }

  async function signUp(page: Page): Promise<string> {
    const email = newEmail('owner');
    await page.goto(`${origin}/signup`);
    await page.getByLabel('Organisation').fill('One house');
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
    await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
    await page.goto(await linkFor(world.asService(served), email));
    await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
    expect(await served.operator('approve', email)).toBe(0);
    await page.context().clearCookies();
    return email;
  }
});

test('every path of the service is in the documented list of them', () => {
  const location = documentedBlocks('nginx')[2] ?? '';
  const listed = new RegExp(/~ (\S+) \{/.exec(location)?.[1] ?? '$^');
  const routes = fileURLToPath(new URL('../../apps/web/src/routes', import.meta.url));
  const folders = [routes, path.join(routes, '(app)')].flatMap((folder) =>
    fs.readdirSync(folder, { withFileTypes: true }),
  );
  const names = folders.filter((entry) => entry.isDirectory() && !entry.name.startsWith('(')).map(({ name }) => name);
  // No page is below them. Other paths below /.well-known are the product's.
  names.push('webhooks/payment', '.well-known/jwks.json');

  expect(names.length).toBeGreaterThan(15);
  for (const name of [...names, '', '_app/immutable/x.js', 'healthz', '__data.json', 'login/__data.json']) {
    expect(listed.test(`/${name}`), `/${name}`).toBe(true);
  }
  for (const name of ['orders', '.well-known/other', 'logins', 'app/login', 'api-docs'])
    expect(listed.test(`/${name}`), name).toBe(false);
});
