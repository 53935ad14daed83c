import { makeOwner, passPhrase, signInOnPage } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with' : 'without';

  test(`an unlinked identity cannot sign in until it is linked again, ${how} JavaScript`, async ({
    browser,
    request,
    service,
  }) => {
    const email = await makeOwner(service, request);
    const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
    const page = await context.newPage();
    const provider = page.getByRole('button', { name: email });
    const session = async () => (await page.request.get('/api/session')).status();

    await test.step('signing in through the provider links it', async () => {
      await page.goto('/login');
      await page.getByRole('link', { name: /^Continue with/ }).click();
      await page.getByLabel('E-mail address').fill(email);
      await page.getByRole('button', { name: 'Create and continue' }).click();
      await expect(page).toHaveURL(/\/onboarding$/);
    });

    await test.step('unlinking asks for the password, and keeps the user signed in', async () => {
      await page.goto('/account/security');
      await openSetting(page, 'Connected');
      const form = page.locator('form[action="/account?/unlink"]');
      await form.getByLabel('Password', { exact: true }).fill('not the pass phrase');
      await form.getByRole('button', { name: /^Disconnect/ }).click();
      await expect(page.getByRole('alert').first()).toContainText('This password is wrong.');
      await form.getByLabel('Password', { exact: true }).fill(passPhrase);
      await form.getByRole('button', { name: /^Disconnect/ }).click();
      await expect(page.getByText('The identity provider is disconnected.')).toBeVisible();
      expect(await session()).toBe(200);
    });

    await test.step('its subject gets the same answer as any other failure', async () => {
      await page.request.post('/api/logout');
      await page.goto('/auth/idp/start');
      await provider.click();
      await expect(page).toHaveURL(/\/login\?error=idp$/);
      expect(await session()).toBe(401);
    });

    await test.step('linking it again signs the user in', async () => {
      await signInOnPage(page, email);
      await page.goto('/account/security');
      await openSetting(page, 'Not connected');
      const form = page.locator('form[action="/account?/connect"]');
      await form.getByLabel('Password', { exact: true }).fill('not the pass phrase');
      await form.getByRole('button', { name: /^Connect / }).click();
      await expect(page.getByRole('alert').first()).toContainText('This password is wrong.');
      await form.getByLabel('Password', { exact: true }).fill(passPhrase);
      await form.getByRole('button', { name: /^Connect / }).click();
      await provider.click();
      await expect(page).toHaveURL(`${service.baseUrl}/`);
      await page.goto('/account/security');
      await expect(page.getByText('Connected', { exact: true })).toBeVisible();
      await page.request.post('/api/logout');
      await page.goto('/auth/idp/start');
      await provider.click();
      await expect(page).toHaveURL(`${service.baseUrl}/`);
      expect(await session()).toBe(200);
    });
    await context.close();
  });
}
