import { addApp, codeOf, setUpApp, toSecondStep, useRecoveryCode } from '../support/factors.ts';
import { makeOwner, passPhrase, signIn } from '../support/people.ts';
import { expect, test } from '../support/service.ts';

// every-page.spec.ts checks the same pages in the same states by axe.
for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    test.use({ javaScriptEnabled });

    test('an authenticator app is set up and used, a used code is refused, and a browser is trusted', async ({
      page,
      browser,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request);
      await page.goto('/login');
      // Passkeys and printing need a script; all else works without one.
      await expect(page.getByRole('button', { name: 'Use a passkey' })).toBeVisible({ visible: javaScriptEnabled });
      await signIn(page, email);
      await page.goto('/account/security');
      await expect(page.getByRole('button', { name: 'Add a passkey' })).toBeVisible({ visible: javaScriptEnabled });
      const { secret, used, codes } = await setUpApp(page);
      expect(codes).toHaveLength(10);
      // The button that made them is below what they take, on a phone by more than a screen.
      const shown = page.getByRole('region', { name: 'Keep these codes now' });
      await expect(shown).toBeFocused();
      await page.setViewportSize({ width: 360, height: 640 });
      await page.goto('/account/security');
      await page.getByRole('button', { name: 'Make new codes' }).click();
      await expect(page.getByText('Your old recovery codes no longer work.')).toBeVisible();
      await expect(shown.getByRole('heading')).toBeInViewport();
      await expect(shown).toBeFocused();

      const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
      const other = await context.newPage();
      await toSecondStep(other, email, passPhrase);
      // Every page leads to the step, whose attempt has no session yet.
      await other.getByLabel('Code from your app').fill(used);
      await other.getByRole('button', { name: 'Continue', exact: true }).click();
      await expect(other.getByText('That code is wrong.')).toBeVisible();
      await other.getByLabel('Don’t ask in this browser for 30 days').check();
      await other.getByLabel('Code from your app').fill(codeOf(secret, 1));
      await other.getByRole('button', { name: 'Continue', exact: true }).click();
      await expect(other).toHaveURL('/');

      // Trusted: the password is enough, and what lasts asks for both.
      await other.context().clearCookies({ name: 'session' });
      await other.goto('/login');
      await other.getByLabel('E-mail', { exact: true }).fill(email);
      await other.getByLabel('Password', { exact: true }).fill(passPhrase);
      await other.getByRole('button', { name: 'Sign in' }).click();
      await expect(other).toHaveURL('/');
      await other.setViewportSize({ width: 360, height: 640 });
      await other.goto('/account/security');
      await other.getByRole('button', { name: 'Make new codes' }).click();
      await expect(other.getByRole('heading', { name: 'Confirm that it’s you' })).toBeInViewport();

      // A wrong code leaves the fields on a form that asks for them only once it was refused.
      await other.goto('/members?invite');
      await other.getByLabel('For whom').fill('Mia');
      await other.getByLabel('Role', { exact: true }).selectOption('Admin');
      const create = other.getByRole('button', { name: 'Create invitation link' });
      await create.click();
      for (const code of ['000000', '000001']) {
        await other.getByLabel('Your password').fill(passPhrase);
        await other.getByLabel('Code from your app').fill(code);
        await create.click();
        await expect(other.getByText('That code is wrong.')).toBeVisible();
        await expect(other.getByLabel('For whom')).toHaveValue('Mia');
      }
      await context.close();
    });

    test('a recovery code replaces the app, and a lost password leads to the review', async ({
      page,
      browser,
      request,
      service,
    }) => {
      const email = await makeOwner(service, request);
      await signIn(page, email);
      const { codes } = await addApp(page.request);
      const { stdout } = await service.operator('password-link', email);
      const token = new URL(stdout.trim()).searchParams.get('token') ?? '';
      const password = 'quite another pass phrase';
      expect((await request.post('/api/trpc/accounts.setPassword', { data: { token, password } })).status()).toBe(200);

      const context = await browser.newContext({ baseURL: service.baseUrl, javaScriptEnabled });
      const other = await context.newPage();
      await toSecondStep(other, email, password);
      await useRecoveryCode(other, 'A'.repeat(16));
      await expect(other.getByLabel('Recovery code', { exact: true })).toHaveAttribute('aria-invalid', 'true');
      await other.getByLabel('Recovery code', { exact: true }).fill((codes[0] ?? '').toLowerCase());
      await other.getByRole('button', { name: 'Continue', exact: true }).click();
      await expect(other).toHaveURL('/account/security/review');
      for (const path of ['/', '/account', '/billing']) {
        await other.goto(path);
        await expect(other).toHaveURL('/account/security/review');
      }
      await other.getByLabel('Authenticator app').check();
      await other.getByRole('button', { name: 'Keep what is ticked' }).click();
      await expect(other).toHaveURL('/');
      await other.goto('/account/security');
      await expect(other.getByText('9 codes left')).toBeVisible();
      await context.close();
    });
  });
}
