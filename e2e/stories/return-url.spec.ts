import { linkFor, makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { type Product, startProduct } from '../support/servers/product.ts';
import { test as base, expect, type Service, startService } from '../support/service.ts';

type Beside = { product: Product; service: Service };

// The tests share it without a fixture of the worker, which would have a process of Playwright and a browser of its own.
let started: Promise<Beside> | undefined;
const test = base.extend<{ beside: Beside }>({
  beside: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the requested fixtures.
    async ({}, use) => {
      started ??= startBeside();
      await use(await started);
    },
    { timeout: 300_000 },
  ],
  baseURL: ({ beside }, use) => use(beside.service.baseUrl),
});
test.afterAll(async ({ beside }) => {
  await beside.service.stop();
  await beside.product.stop();
});

async function startBeside(): Promise<Beside> {
  const product = await startProduct();
  const environment = { RETURN_ORIGINS: product.url, SERVICE_URL: product.url, SERVICE_NAME: 'Larch' };
  const service = await startService({ environment });
  product.setServiceUrl(service.baseUrl);
  return { product, service };
}

test('sign-in with a password returns to the requested page, once', async ({ page, request, beside }) => {
  const { product, service } = beside;
  const email = await makeOwner(service, request);
  const wanted = `${product.url}/orders?page=2&sort=a%26b`;

  await test.step('the product redirects to sign-in, and onboarding comes before the return', async () => {
    await page.goto(wanted);
    await expect(page).toHaveURL(/\/login\?return_to=/);
    await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('Password', { exact: true }).fill('not the pass phrase');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByText('E-mail or password is wrong.').first()).toBeVisible();
    await page.getByLabel('Password', { exact: true }).fill(passPhrase);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${service.baseUrl}/onboarding`);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await expect(page).toHaveURL(wanted);
    await expect(page.getByText(email)).toBeVisible();
  });

  await test.step('the return URL is used once, and home links to the product', async () => {
    await page.goto('/');
    await expect(page).toHaveURL(`${service.baseUrl}/`);
    await page.getByRole('link', { name: 'Open Larch' }).click();
    await expect(page).toHaveURL(`${product.url}/`);
  });

  await test.step('a signed-in user is redirected at once', async () => {
    // By a new session, because home leads each to one product once in ten seconds.
    await signIn(page, email);
    await page.goto(`/login?return_to=${encodeURIComponent(wanted)}`);
    await expect(page).toHaveURL(wanted);
  });

  await test.step('sign-out from the service signs the user out of the product', async () => {
    await page.request.post('/api/logout');
    await page.goto(wanted);
    await expect(page).toHaveURL(/\/login\?return_to=/);
  });
});

test('a new user returns to the product after sign-up, verification, approval and onboarding', async ({
  page,
  beside,
}) => {
  const { product, service } = beside;
  const email = newEmail('new');
  await page.goto(`/signup?return_to=${encodeURIComponent(`${product.url}/welcome`)}`);
  await page.getByLabel('Organisation').fill('Newcomers');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
  await page.goto(await linkFor(service, email));
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/awaiting-approval');

  await page.goto(`${product.url}/welcome`);
  await expect(page, 'an account that awaits approval does not reach the product').toHaveURL('/awaiting-approval');
  await service.approve(email);
  await expect(page).toHaveURL('/onboarding');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(`${product.url}/welcome`);
  await expect(page.getByText(email)).toBeVisible();
});

test('sign-in through the identity provider returns to the requested page', async ({ page, request, beside }) => {
  const { product, service } = beside;
  const email = await makeOwner(service, request);
  const wanted = `${product.url}/reports`;
  await page.goto(`/auth/idp/start?return_to=${encodeURIComponent(wanted)}`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Name').fill('A Person');
  await page.getByRole('button', { name: 'Create and continue' }).click();
  await expect(page).toHaveURL(`${service.baseUrl}/onboarding`);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(wanted);
});

test('sign-in returns to the requested page without JavaScript', async ({ browser, request, beside }) => {
  const { product, service } = beside;
  const email = await makeOwner(service, request);
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${product.url}/plain`);
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(`${product.url}/plain`);
  await context.close();
});

test('a URL of an origin that is not configured is not a return URL, and sets no cookie', async ({
  page,
  request,
  beside,
}) => {
  const { product, service } = beside;
  const email = await makeOwner(service, request);
  for (const evil of ['//evil.example', 'https://evil.example', `${product.url}@evil.example`, 'javascript:alert(1)']) {
    const answer = await page.request.get(`/login?return_to=${encodeURIComponent(evil)}`);
    expect(answer.headers()['set-cookie'], evil).toBeUndefined();
  }
  await page.goto(`/login?return_to=${encodeURIComponent('https://evil.example')}`);
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page).toHaveURL(`${service.baseUrl}/`);
});
