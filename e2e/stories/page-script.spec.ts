import type { Page } from '@playwright/test';
import { makeOwner, newEmail, passPhrase, signInOnPage } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { expect, test } from '../support/service.ts';

const password = (page: Page) => page.getByLabel('Password', { exact: true });
const email = (page: Page) => page.getByLabel('E-mail', { exact: true });
const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in' });

function documentsOf(page: Page): string[] {
  const documents: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'document') documents.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return documents;
}

test('a failed sign-in keeps the document and what was typed, moves the focus to the error and can be sent again', async ({
  page,
  service,
}) => {
  const owner = await makeOwner(service, page.request);
  const documents = documentsOf(page);
  await page.goto('/login');
  await email(page).fill(owner);
  await password(page).fill('not the pass phrase');
  await signInButton(page).click();
  await expect(page.getByRole('alert')).toBeFocused();
  await expect(page).toHaveTitle(/^Error: /);
  await expect(email(page)).toHaveValue(owner);
  await expect(password(page)).toHaveValue('not the pass phrase');

  await password(page).fill(passPhrase);
  await expect(email(page)).not.toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('button', { name: 'Show password' }).click();
  await expect(password(page)).toHaveAttribute('type', 'text');
  await page.getByRole('button', { name: 'Hide password' }).click();
  expect(documents).toEqual(['GET /login']);
  await password(page).press('Enter');
  await expect(page).toHaveURL('/onboarding');
  expect(documents.filter((each) => each.endsWith(' /login'))).toEqual(['GET /login']);
});

test('a sign-in whose request fails keeps the page and the typed text, and reports the failure', async ({
  page,
  context,
}) => {
  await page.goto('/login');
  await email(page).fill('mia@quayside.example');
  await password(page).fill(passPhrase);
  await page.route('**/login', (route) => route.abort('connectionreset'));
  await signInButton(page).click();
  const notice = page.locator('[role="status"] #notice');
  await expect(notice).toContainText('We could not reach the server. What you typed is still here.');
  await expect(password(page)).toHaveValue(passPhrase);
  await expect(signInButton(page)).not.toHaveAttribute('aria-busy', 'true');

  await context.setOffline(true);
  await signInButton(page).click();
  await expect(notice).toContainText('You are offline.');
  await context.setOffline(false);
  await page.unroute('**/login');
  await page.route('**/login', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
  await signInButton(page).click();
  await expect(notice).toContainText('We could not reach the server.');

  await page.unroute('**/login');
  const foreignPage = { status: 403, contentType: 'text/html', body: '<main>Forbidden</main>' };
  await page.route('**/login', (route) => route.fulfill(foreignPage));
  await signInButton(page).click();
  await expect(signInButton(page)).not.toHaveAttribute('aria-busy', 'true');
  await expect(password(page)).toHaveValue(passPhrase);
  await notice.getByRole('link', { name: 'Close' }).click();
  await expect(notice).toHaveCount(0);
  await expect(page.locator('main')).toBeFocused();
  await expect(password(page)).toHaveValue(passPhrase);
});

test('a second press while a form is being sent sends nothing', async ({ page }) => {
  let sent = 0;
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.goto('/login');
  await page.route('**/login', async (route) => {
    sent += 1;
    await held;
    await route.continue();
  });
  await email(page).fill(newEmail('unknown'));
  await password(page).fill('not the pass phrase');
  await signInButton(page).click();
  await expect(signInButton(page)).toHaveAttribute('aria-busy', 'true');
  await password(page).press('Enter');
  answer();
  await expect(page.getByRole('alert')).toBeVisible();
  expect(sent).toBe(1);
});

test('the link can be sent again once a minute, and the button says when', async ({ page }) => {
  await page.clock.install();
  await page.goto('/signup');
  await email(page).fill(newEmail());
  await password(page).fill(passPhrase);
  await page.getByRole('button', { name: /^Create/ }).click();
  const again = page.getByRole('button', { name: 'Send it again' });
  await expect(again).toHaveAttribute('aria-disabled', 'true');
  await expect(page.getByText(/in 0:\d\d/)).toBeVisible();
  await again.click({ force: true });
  await page.clock.runFor(61_000);
  await expect(again).not.toHaveAttribute('aria-disabled', 'true');
  await expect(page.getByText(/in \d:\d\d/)).toBeHidden();
  await again.click();
  await expect(again).toHaveAttribute('aria-disabled', 'true');
});

test('a link to sign-in from a page that Kit runs loads a document', async ({ page, service }) => {
  await signInOnPage(page, await makeOwner(service, page.request, { approved: false }));
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await expect(page).toHaveURL('/login');
  await expect(signInButton(page)).toBeVisible();
  const scripts = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(scripts.filter((name) => /\/entry\/start/.test(name))).toEqual([]);
});

test('a page kept in memory has the language, theme and query of each request, and none of another visitor', async ({
  request,
  service,
}) => {
  const html = async (path: string, headers: Record<string, string> = {}) =>
    (await send(service, path, { headers })).text;
  for (let round = 0; round < 2; round++) {
    expect(await html('/login')).toMatch(/<html lang="en" >/);
    expect(await html('/login', { 'accept-language': 'de' })).toContain('<html lang="de" >');
    expect(await html('/login', { cookie: 'language=de; theme=dark' })).toContain('<html lang="de" data-theme="dark">');
    expect(await html('/login', { cookie: 'theme=light' })).toContain('<html lang="en" data-theme="light">');
    expect(await html('/login?error=idp')).toContain('Signing in with');
    expect(await html('/login')).not.toContain('Signing in with');
    expect(await html('/signup')).toContain('action="?/create"');
  }
  const [one, other] = [await send(service, '/login'), await send(service, '/login')];
  expect(other.text).toBe(one.text);
  expect(other.headers['x-request-id']).not.toBe(one.headers['x-request-id']);
  const ownHeaders = ['x-request-id', 'date'];
  const shared = ({ headers }: typeof one) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)));
  expect(shared(other)).toEqual(shared(one));

  const owner = await makeOwner(service, request);
  await request.post('/api/login', { data: { email: owner, password: passPhrase } });
  expect((await request.get('/login', { maxRedirects: 0 })).status()).toBe(302);
});
