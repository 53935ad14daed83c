import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { addAuthenticator } from '../support/browser/authenticator.ts';
import { makeOwner, passPhrase, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

/** Adds a passkey on /account/security, in a fresh session. */
async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto('/account/security');
  await page.getByLabel('Name of the passkey').fill(name);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
}

function withoutSuggestions(page: Page): Promise<unknown> {
  return page.addInitScript(() =>
    Object.assign(PublicKeyCredential, { isConditionalMediationAvailable: async () => false }),
  );
}

test('a passkey is added, signs in without address and password, and confirms its user', async ({
  page,
  request,
  service,
}) => {
  // The button alone: the suggestions have a story of their own.
  await withoutSuggestions(page);
  const email = await makeOwner(service, request);
  await signIn(page, email);
  await addAuthenticator(page);
  await addPasskey(page, 'Work laptop');
  await expect(page.getByRole('heading', { name: /^Keep these codes now/ })).toBeVisible();
  await expect(page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10);
  // every-page.spec.ts checks the pages that look as without a passkey, and the list with one.
  await expectAccessible(page, 'the codes after a passkey');
  await expect(page.getByRole('status').getByText('The passkey is added.')).toBeVisible();
  await page.getByRole('link', { name: 'Done' }).click();
  await expect(page.getByText('Work laptop', { exact: true })).toBeVisible();
  await expect(page.getByText('Not used yet')).toBeVisible();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(page.getByText('This device or key already has a passkey for your account.')).toBeVisible();

  await page.request.post('/api/logout');
  await page.goto('/login');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page).toHaveURL('/');
  await page.goto('/account/security');
  await expect(page.getByText(/^Added on .* Last used on/)).toBeVisible();

  // The second step after the password.
  await page.request.post('/api/logout');
  await page.goto('/login');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page).toHaveURL('/login/second-step');
  await expectAccessible(page, 'the second step with a passkey');
  await page.getByLabel('Don’t ask in this browser for 30 days').check();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page).toHaveURL('/');

  // The browser is trusted, so the session is not fresh: the passkey makes it so, without a password.
  await page.request.post('/api/logout');
  await page.request.post('/api/login', { data: { email, password: passPhrase } });
  await page.goto('/account/security');
  await page.getByRole('button', { name: 'Remove Work laptop' }).click();
  await expect(page.getByRole('heading', { name: 'Confirm that it’s you' })).toBeVisible();
  await expectAccessible(page, 'the confirmation by a passkey');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByRole('heading', { name: 'Confirm that it’s you' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Remove Work laptop' }).click();
  await expect(page.getByText('The second factor is removed.')).toBeVisible();
  await expect(page.getByText('Work laptop', { exact: true })).toHaveCount(0);
});

test('a passkey is suggested in the address field', async ({ page, request, service }) => {
  const email = await makeOwner(service, request);
  await signIn(page, email);
  const authenticator = await addAuthenticator(page);
  await addPasskey(page, 'Phone');
  await expect(page.getByRole('heading', { name: /^Keep these codes now/ })).toBeVisible();
  await page.request.post('/api/logout');
  // A person who chooses none: nothing happens, and no error is shown.
  await authenticator.answers(false);
  await page.goto('/login');
  await page.waitForLoadState('networkidle');
  await expect(page.getByRole('button', { name: 'Use a passkey' })).toBeVisible();
  await expect(page.locator('#notice')).toHaveCount(0);

  // The authenticator answers what the field suggests as soon as it is asked.
  await authenticator.answers(true);
  await page.reload();
  await expect(page).toHaveURL('/');
});

test('a thief’s passkey opens nothing after a lost password, and the review removes it', async ({
  page,
  browser,
  request,
  service,
}) => {
  await withoutSuggestions(page);
  const email = await makeOwner(service, request);
  await signIn(page, email);
  await addAuthenticator(page);
  await addPasskey(page, 'Thief');
  const list = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(list).toHaveCount(10);
  const codes = await list.allInnerTexts();
  const { stdout } = await service.operator('password-link', email);
  const token = new URL(stdout.trim()).searchParams.get('token') ?? '';
  const password = 'quite another pass phrase';
  expect((await request.post('/api/trpc/accounts.setPassword', { data: { token, password } })).status()).toBe(200);

  await page.goto('/login');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByText('That passkey was not accepted.')).toBeVisible();

  const context = await browser.newContext({ baseURL: service.baseUrl });
  const owner = await context.newPage();
  expect((await owner.request.post('/api/login', { data: { email, password } })).status()).toBe(401);
  const step = { recovery_code: codes[0] };
  expect((await owner.request.post('/api/login/second-step', { data: step })).status()).toBe(200);
  await owner.goto('/');
  await expect(owner).toHaveURL('/account/security/review');
  await expect(owner.getByText('Thief')).toBeVisible();
  await owner.getByRole('button', { name: 'Keep what is ticked' }).click();
  await expect(owner).toHaveURL('/');
  await page.reload();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await expect(page.getByText('That passkey was not accepted.')).toBeVisible();
  await context.close();
});
