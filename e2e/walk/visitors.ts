import { expect } from '@playwright/test';
import { linkFor, passPhrase } from '../people.ts';
import { approvedDomain } from '../service.ts';
import type { Walk } from './leg.ts';

/** Before sign-in: the ways in, the links of the mails, and what is said about those that do not work. */
export async function visitors({ service, request, somebody, see }: Walk): Promise<void> {
  const page = await somebody();

  await see(page, 'login', '/login');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await see(page, 'login-focus');
  await page.getByText('Just signed up?').click();
  await page.getByText('Password lost?').click();
  await see(page, 'login-help-open');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'login-refused');
  await see(page, 'login-identity-provider-failed', '/login?error=idp');

  const email = 'owner@harbour.example';
  await see(page, 'signup', '/signup');
  await page.getByLabel('Organisation').fill('Harbour Analytics');
  await page.getByLabel('E-mail', { exact: true }).fill('nobody');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'signup-refused');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible();
  await see(page, 'signup-sent');
  await page.goto('/login#resend');
  await page.getByRole('button', { name: 'Send the link' }).click();
  await expect(page.getByRole('heading', { name: 'Send the link again' })).toBeVisible();
  await see(page, 'signup-resend-refused');

  const link = await linkFor(service, email);
  await see(page, 'verify-confirmed', link);
  await see(page, 'verify-confirmed-already', link);
  await see(page, 'verify-link-refused', '/verify?token=x');

  const own = `owner@${approvedDomain}`;
  await request.post('/api/signup', { data: { email: own, password: passPhrase } });
  await see(page, 'verify-approve-yourself', await linkFor(service, own));
  // As after a link that makes no password valid: to get one takes two sign-ups, and a minute until another is sent.
  await page.locator('input[name=token]').evaluate((token) => {
    token.insertAdjacentHTML('afterend', '<input type="hidden" name="password_token" value="x">');
  });
  await page.getByRole('button', { name: 'Approve my organisation' }).click();
  await expect(page.getByRole('heading', { name: 'Choose a password' })).toBeVisible();
  await see(page, 'verify-first-password');
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'verify-first-password-refused');
  await see(page, 'login-approved', '/login?done=approved');

  await see(page, 'password-link-refused', '/password?token=x');
  await see(page, 'awaiting-approval-nobody', '/awaiting-approval');
  await see(page, 'not-found', '/nothing-here');
}
