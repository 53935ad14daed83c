import { expect } from '@playwright/test';
import { linkFor, passPhrase } from '../people.ts';
import { approvedDomain } from '../service.ts';
import type { TourPart } from './tour-part.ts';

/** Visits the pages before sign-in: sign-up, sign-in, the links of the mails, and their error pages. */
export async function visitors({ service, request, newPage, see }: TourPart): Promise<void> {
  const page = await newPage();

  await see(page, 'api-docs', '/api/docs');
  await see(page, 'login', '/login');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await see(page, 'login-focus');
  await page.getByText('Just signed up?').click();
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
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'signup-refused');
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(passPhrase);
  await page.getByRole('button', { name: /^Create (organisation|account)$/ }).click();
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
  await see(page, 'signup-sent');
  await page.goto('/login?open=resend#resend');
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
  await page.getByRole('button', { name: 'Approve my organisation' }).click();
  await expect(page.getByRole('heading', { name: 'Choose a password' })).toBeVisible();
  await see(page, 'verify-first-password');
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'verify-first-password-refused');

  const elsewhere = 'elsewhere@harbour.example';
  const cookie = await request
    .post('/api/signup', { data: { email: elsewhere, password: passPhrase, org_name: 'Harbour Lights' } })
    .then((answer) => (answer.headers()['set-cookie'] ?? '').split(';')[0] ?? '');
  const elsewhereLink = await linkFor(service, elsewhere);
  await see(page, 'verify-elsewhere', elsewhereLink);
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: service.baseUrl }]);
  await see(page, 'verify-keep', elsewhereLink);
  await page.getByRole('button', { name: 'Use the password I chose' }).click();
  await see(page, 'login-kept');

  await page.goto('/signup?forgot');
  await page.getByLabel('E-mail').fill(elsewhere);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible();
  await see(page, 'password-link-sent');

  await see(page, 'password-link-refused', '/password?token=x');
  await see(page, 'awaiting-approval-nobody', '/awaiting-approval');
  await see(page, 'not-found', '/nothing-here');
}
