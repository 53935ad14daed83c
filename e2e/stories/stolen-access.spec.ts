import type { Browser, BrowserContext, Page } from '@playwright/test';
import { linkFor, makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { expect, type Service, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

const otherPhrase = 'another long pass phrase';

/** Opens a browser with the cookies of another one, as a thief has them who copied them. */
async function copyOf(browser: Browser, service: Service, stolen: BrowserContext): Promise<Page> {
  const theirs = await browser.newContext({ baseURL: service.baseUrl });
  await theirs.addCookies(await stolen.cookies());
  return theirs.newPage();
}

const sessionOf = async (page: Page) => (await page.request.get('/api/session')).status();

/** Signs in through the provider as somebody with this address; a new one for the provider, unless `known`. */
async function signInThroughProvider(page: Page, email: string, { known = false } = {}): Promise<void> {
  await page.goto('/auth/idp/start');
  if (known) return page.getByRole('button', { name: email }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Create and continue' }).click();
}

test('a copied session of an operator makes nothing that lasts, and ends when its owner confirms who they are', async ({
  browser,
  page,
  playwright,
  request,
  service,
}) => {
  const customer = await makeOwner(service, request);
  const colleague = await makeOwner(service, request, { operator: true, organisation: 'Night desk' });
  const operator = await makeOwner(service, request, { operator: true, organisation: 'Front desk' });
  // A sign-in through the provider does not make a session fresh.
  await signInThroughProvider(page, operator);
  await page.waitForURL(/\/onboarding$/);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.waitForURL('/');
  const thief = await copyOf(browser, service, page.context());

  await test.step('the thief sees the console, and is asked for the password before a key', async () => {
    await thief.goto('/operator/keys');
    await thief.getByLabel('Name').fill('Back door');
    await thief.getByLabel('Your password').fill('not the pass phrase');
    await thief.getByRole('button', { name: 'Create key' }).click();
    await expect(thief.getByRole('alert')).toContainText('This password is wrong.');
    await expect(thief.getByLabel('Name')).toHaveValue('Back door');
    for (const data of [{ name: 'Back door' }, { name: 'Back door', password: '' }]) {
      const asked = await thief.request.post('/api/trpc/operators.createKey', { data });
      expect([asked.status(), await asked.text()]).toEqual([403, expect.stringContaining('FRESH_SIGN_IN_REQUIRED')]);
    }
  });

  await test.step('nor does a password link of anybody work without it, and none of an operator with it', async () => {
    await thief.goto(`/operator/people?search=${customer}`);
    await thief.getByRole('link', { name: customer }).click();
    await thief.getByRole('button', { name: `Password link for ${customer}` }).click();
    await expect(thief.getByLabel('Your password')).toBeVisible();
    await expect(thief.getByLabel('The password link')).toHaveCount(0);
    for (const each of [colleague, operator]) {
      await thief.goto(`/operator/people?search=${each}`);
      await thief.getByRole('link', { name: each }).click();
      await expect(thief.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(thief.getByRole('button', { name: /^Password link for/ })).toHaveCount(0);
    }
    expect((await thief.request.post('/api/fresh', { data: { password: 'not the pass phrase' } })).status()).toBe(401);
  });

  await test.step('the operator makes a key with the password', async () => {
    await page.goto('/operator/keys');
    await page.getByLabel('Name').fill('Console');
    await page.getByLabel('Your password').fill(passPhrase);
    await page.getByRole('button', { name: 'Create key' }).click();
    await expect(page.getByLabel('The new API key')).toHaveValue(/^gh_test_/);
  });
  const key = await page.getByLabel('The new API key').inputValue();
  const console = await playwright.request.newContext({
    baseURL: service.baseUrl,
    extraHTTPHeaders: { authorization: `Bearer ${key}` },
  });
  expect((await console.get('/api/organisations')).status()).toBe(200);

  await test.step('once the operator confirms who they are, the copied cookie opens nothing', async () => {
    expect(await sessionOf(thief)).toBe(200);
    await page.goto('/account/security?return_to=/operator/keys');
    await page.getByLabel('Your password').fill(passPhrase);
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await expect(page).toHaveURL('/operator/keys');
    expect([await sessionOf(thief), await sessionOf(page)]).toEqual([401, 200]);
    await expect(page.getByLabel('Your password')).toHaveCount(0);
  });

  await test.step('with the mark ends what the operator made', async () => {
    expect((await service.operator('revoke', operator)).stderr).toBe('');
    expect((await console.get('/api/organisations')).status()).toBe(401);
  });
  await console.dispose();
  await thief.context().close();
});

test('the page of security says so where it asks for the password first', async ({ page, request, service }) => {
  const owner = await makeOwner(service, request);
  await request.post('/api/login', { data: { email: owner, password: passPhrase } });
  await signInThroughProvider(page, owner);
  await page.waitForURL(/\/onboarding$/);
  await page.goto('/account/security');
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect(page.getByRole('alert').first()).toBeFocused();
  await page.getByRole('link', { name: 'Confirm that it’s you to do this.' }).click();
  await expect(page.getByLabel('Password to sign out other browsers')).toBeFocused();
  await page.keyboard.type(passPhrase);
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect(page.getByText('You are signed out everywhere else.')).toBeVisible();
});

test('a reset of the password puts out a thief who connected an identity of their own', async ({
  browser,
  page,
  request,
  service,
}) => {
  const owner = await makeOwner(service, request);
  const stranger = newEmail('stranger');
  const thief = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();

  await test.step('the thief knows the password, and connects an identity', async () => {
    await signIn(thief, owner);
    await thief.goto('/account/security');
    await openSetting(thief, 'Not connected');
    const form = thief.locator('form[action="/account?/connect"]');
    await form.getByLabel('Password', { exact: true }).fill(passPhrase);
    await form.getByRole('button', { name: /^Connect / }).click();
    await thief.getByLabel('E-mail address').fill(stranger);
    await thief.getByRole('button', { name: 'Create and continue' }).click();
    await thief.waitForURL('/');
    await thief.request.post('/api/logout');
    await signInThroughProvider(thief, stranger, { known: true });
    await thief.waitForURL('/');
  });

  await test.step('the owner gets a link for a new password, whose page names the identity', async () => {
    // From an operator: a second mail within a minute is not sent.
    await page.goto((await service.operator('password-link', owner)).stdout.trim());
    await expect(page.getByText(`Keep signing in with ${stranger}`)).toBeVisible();
    await expect(page.getByRole('checkbox', { name: `Keep signing in with ${stranger}` })).not.toBeChecked();
    await page.getByLabel('New password').fill(otherPhrase);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page).toHaveURL('/login');
  });

  await test.step('neither the session, nor the old password, nor the identity lets the thief in', async () => {
    expect(await sessionOf(thief)).toBe(401);
    expect((await thief.request.post('/api/login', { data: { email: owner, password: passPhrase } })).status()).toBe(
      401,
    );
    await signInThroughProvider(thief, stranger, { known: true });
    await expect(thief).toHaveURL(/\/login\?error=idp$/);
    expect(await sessionOf(thief)).toBe(401);
  });

  await test.step('the owner signs in with the new password', async () => {
    await page.request.post('/api/login', { data: { email: owner, password: otherPhrase } });
    await page.goto('/account/security');
    await expect(page.getByText('Not connected', { exact: true })).toBeVisible();
  });
  await thief.context().close();
});

test('whoever opens a stranger’s change of address keeps the address, and a sign-up with it', async ({
  browser,
  page,
  request,
  service,
}) => {
  const strangersAddress = await makeOwner(service, request, { organisation: 'Passing By' });
  const address = newEmail('wanted');
  const stranger = await (await browser.newContext({ baseURL: service.baseUrl })).newPage();
  await signIn(stranger, strangersAddress);
  const askFor = async (email: string) => {
    const asked = await stranger.request.post('/api/trpc/accounts.changeAddress', { data: { email } });
    expect(asked.status()).toBe(200);
  };
  await askFor(address);
  const strangersLink = await linkFor(service, address);

  await test.step('the page names the stranger’s account, and asks for its password', async () => {
    expect((await page.goto(strangersLink))?.status()).toBe(200);
    await expect(page.locator('main')).toContainText(
      `The account that signs in with ${strangersAddress} now, in Passing By.`,
    );
    await page.getByLabel('Password of that account').fill('a guess of the owner');
    await page.getByRole('button', { name: 'Change my address' }).click();
    await expect(page.getByRole('alert')).toContainText('This password is wrong.');
  });

  await test.step('a sign-up with the address is its owner’s, and the stranger’s link gives nothing', async () => {
    const data = { email: address, password: otherPhrase, org_name: 'Own House' };
    expect((await page.request.post('/api/signup', { data })).status()).toBe(200);
    let own = strangersLink;
    await expect.poll(async () => (own = await linkFor(service, address))).not.toBe(strangersLink);
    const withSession = await stranger.request.get(strangersLink);
    expect(withSession.status()).toBe(400);
    expect((await stranger.request.get('/api/session').then((answer) => answer.json())).user.email).toBe(
      strangersAddress,
    );

    expect((await page.goto(own))?.status()).toBe(200);
    await service.approve(address);
    await page.request.post('/api/login', { data });
    const session = await (await page.request.get('/api/session')).json();
    expect([session.user.email, session.organisation.name]).toEqual([address, 'Own House']);
  });

  await test.step('asking for it once more mails nothing', async () => {
    const newest = await linkFor(service, address);
    await askFor(address);
    // A later mail says that the one before it would have been sent by now.
    const free = newEmail('free');
    await askFor(free);
    await linkFor(service, free);
    expect(await linkFor(service, address)).toBe(newest);
  });
  await stranger.context().close();
});
