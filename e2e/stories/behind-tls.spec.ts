import { freePort } from '@gatehouse/api/testing/free-ports';
import type { Browser, BrowserContext, Page } from '@playwright/test';
import { linkFor, newEmail, passPhrase } from '../support/people.ts';
import { type ServiceProcess, startServed } from '../support/processes/served.ts';
import { type Product, startProduct } from '../support/servers/product.ts';
import { hasOpenssl, makeCertificate, startTlsProxy } from '../support/servers/tls-proxy.ts';
import { expect, test } from '../support/service.ts';

test.skip(!hasOpenssl(), 'There is no openssl on this machine to make a certificate.');
test.describe.configure({ mode: 'serial' });

let product: Product;
let served: ServiceProcess;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let [id, app] = ['', ''];
const email = newEmail('owner');
const ends: (() => Promise<unknown>)[] = [];

test.beforeAll(async ({ playwright, launchOptions, service }) => {
  product = await startProduct();
  ends.push(product.stop);
  const port = await freePort();
  const proxy = await startTlsProxy(makeCertificate('company.test'), (host) => {
    if (host === 'id.company.test') return { host: '127.0.0.1', port };
    return host === 'app.company.test' ? { host: '127.0.0.1', port: Number(new URL(product.url).port) } : null;
  });
  ends.push(proxy.stop);
  id = `https://id.company.test:${proxy.port}`;
  app = `https://app.company.test:${proxy.port}`;
  served = await startServed(port, {
    PUBLIC_BASE_URL: id,
    COOKIE_DOMAIN: 'company.test',
    RETURN_ORIGINS: app,
    SMTP_URL: `smtp://localhost:${Number(new URL(service.sandboxUrl).port) + 1}`,
    TRUSTED_PROXIES: '1',
  });
  ends.push(served.stop);
  product.setServiceUrl(`http://127.0.0.1:${port}`, { gatehouse: id, product: app });

  const args = [...(launchOptions.args ?? []), '--host-resolver-rules=MAP *.company.test 127.0.0.1'];
  browser = await playwright.chromium.launch({ ...launchOptions, args });
  ends.push(() => browser.close());
  context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' });
  page = await context.newPage();
});
test.afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

test('over https a user signs up, and the link in the mail has the public origin', async ({ service }) => {
  await page.goto(`${id}/signup`);
  await page.getByLabel('Organisation').fill('Behind a proxy');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
  const link = await linkFor(service, email);
  expect(link).toContain(`${id}/verify?token=`);
  const answer = await page.goto(link);
  expect(answer?.headers()['strict-transport-security']).toMatch(/max-age=/);
  await expect(page.locator('main')).toHaveAttribute('data-ok', 'true');
  expect(await served.operator('approve', email)).toBe(0);
});

test('a product on a sibling host receives a separate cookie, not that of the session', async () => {
  await page.goto(`${app}/orders`);
  await expect(page).toHaveURL(`${id}/login?return_to=${encodeURIComponent(`${app}/orders`)}`);
  await signIn();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(`${app}/orders`);
  await expect(page.getByText(email)).toBeVisible();

  const cookies = await context.cookies();
  const own = cookies.find(({ name }) => name === '__Host-session');
  expect(own).toMatchObject({ domain: 'id.company.test', secure: true, httpOnly: true, sameSite: 'Lax', path: '/' });
  expect((await context.cookies(app)).map(({ name }) => name)).toEqual(['__Secure-gatehouse']);
  const shared = cookies.find(({ name }) => name === '__Secure-gatehouse');
  expect(shared).toMatchObject({ domain: '.company.test', secure: true, httpOnly: true, sameSite: 'Lax', path: '/' });
  expect(shared?.value).not.toBe(own?.value);
});

test('the shared cookie asks about the session and its entitlements, and authorises no other request', async () => {
  const [shared] = await context.cookies(app);
  const cookie = `__Secure-gatehouse=${shared?.value}`;
  const ask = (path: string, sent: RequestInit = {}, value = cookie) =>
    fetch(`http://127.0.0.1:${served.port}${path}`, { redirect: 'manual', ...sent, headers: { cookie: value } });

  const answer = await ask('/api/session');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-gatehouse-scopes')).toBe('READ WRITE ADMIN');
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect((await ask('/api/trpc/sessions.verify')).status).toBe(200);

  const { organisation } = await answer.json();
  expect((await ask(`/api/organisations/${organisation.slug}/entitlements`)).status).toBe(200);
  expect((await ask('/api/organisations/another/entitlements')).status).toBe(404);
  for (const path of ['/api/subscription', '/api/trpc/subscription.read', '/api/trpc/accounts.profile']) {
    expect((await ask(path)).status, path).toBe(401);
  }
  for (const path of [
    '/api/trpc/sessions.verify,accounts.profile?batch=1',
    '/api/trpc/sessions.verify/../accounts.profile',
  ]) {
    expect((await ask(path)).status, path).toBeGreaterThanOrEqual(400);
  }
  for (const path of ['/api/billing/portal', '/api/billing/cancel', '/api/billing/resume']) {
    expect((await ask(path, { method: 'POST' })).status, path).toBe(401);
  }
  for (const path of ['/', '/billing', '/account', '/members', '/operator', '/onboarding']) {
    expect((await ask(path)).headers.get('location'), path).toBe('/login');
  }
  // Under the session cookie's name its value is not a session, and signing out with it ends none.
  expect((await ask('/api/subscription', {}, `__Host-session=${shared?.value}`)).status).toBe(401);
  expect((await ask('/api/logout', { method: 'POST' }, `__Host-session=${shared?.value}`)).status).toBe(200);
  expect((await ask('/api/session')).status).toBe(200);
});

test('a shared cookie that is lost is given again on the way to sign-in and back', async () => {
  await signInAnew();
  await context.clearCookies({ name: '__Secure-gatehouse' });
  await page.goto(`${app}/orders`);
  await expect(page).toHaveURL(`${app}/orders`);
  await expect(page.getByText(email)).toBeVisible();
});

test('a product that does not see the session is not redirected to again and again: home says so', async () => {
  await signInAnew();
  // The product takes every session for unknown, as one outside COOKIE_DOMAIN would.
  product.setServiceUrl(`http://127.0.0.1:${served.port}`, { gatehouse: id, product: app }, { blind: true });
  await page.goto(`${app}/orders`);
  await expect(page).toHaveURL(`${id}/`);
  await expect(page.getByRole('heading', { name: `${new URL(app).host} sent you back` })).toBeVisible();
  product.setServiceUrl(`http://127.0.0.1:${served.port}`, { gatehouse: id, product: app });
  await page.getByRole('link', { name: 'Try again' }).click();
  await expect(page).toHaveURL(`${app}/orders`);
});

test('a product signs out by a link, and by a request of its own page', async () => {
  await page.goto(`${id}/logout?return_to=${encodeURIComponent(`${app}/bye`)}`);
  await expect(page.getByText(`go back to ${new URL(app).host}`)).toBeVisible();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(`${id}/login?return_to=${encodeURIComponent(`${app}/bye`)}`);
  expect(await context.cookies(app)).toEqual([]);
  // Without a session the link leads back at once; an origin that is not listed leads to /login.
  const leads = async (url: string) => {
    const path = `/logout?return_to=${encodeURIComponent(url)}`;
    return (await fetch(`http://127.0.0.1:${served.port}${path}`, { redirect: 'manual' })).headers.get('location');
  };
  expect(await leads(`${app}/bye`)).toBe(`${app}/bye`);
  expect(await leads('https://evil.example/')).toBe('/login');

  await signIn();
  await expect(page).toHaveURL(`${app}/bye`);
  await page.evaluate(
    (url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }),
    `${id}/api/logout`,
  );
  expect(await context.cookies(app)).toEqual([]);
  await page.goto(`${app}/orders`);
  await expect(page).toHaveURL(/\/login\?return_to=/);
  await signIn();
  await expect(page).toHaveURL(`${app}/orders`);
});

/** Signs in without a return URL. Home leads a session to one product once in ten seconds: this one was not led yet. */
async function signInAnew(): Promise<void> {
  await context.clearCookies();
  await page.goto(`${id}/login`);
  await signIn();
  await expect(page).toHaveURL(`${id}/`);
}

async function signIn(): Promise<void> {
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('the shared cookie is invalid once its session has ended', async () => {
  const [before] = await context.cookies(app);
  const cookie = `__Secure-gatehouse=${before?.value}`;
  const status = async () =>
    (await fetch(`http://127.0.0.1:${served.port}/api/session`, { headers: { cookie } })).status;
  expect(await status()).toBe(200);

  await page.goto(`${id}/account`);
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await expect(page).toHaveURL(`${id}/login`);
  expect(await status()).toBe(401);
  expect(await context.cookies(app)).toEqual([]);
  await page.goto(`${app}/orders`);
  await expect(page).toHaveURL(/\/login\?return_to=/);
});
