import { expect } from '@playwright/test';
import { addAuthenticator } from '../browser/authenticator.ts';
import { setUpApp, toSecondStep, useRecoveryCode } from '../factors.ts';
import { inviteOn, makeOwner, passPhrase, signIn } from '../people.ts';
import { openSetting } from '../settings.ts';
import type { TourPart } from './tour-part.ts';

/** Visits the pages of a second factor: its set-up, the second step, and the review after a new password by a link. */
export async function secondFactor({ service, request, newPage, see }: TourPart): Promise<void> {
  const email = await makeOwner(service, request);
  const page = await newPage();
  await signIn(page, email);
  const { codes } = await setUpApp(page, (name) => see(page, name));
  await see(page, 'account-security-factor', '/account/security');
  await addAuthenticator(page);
  await page.getByLabel('Name of the passkey').fill('Work laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await expect(page.getByText('Not used yet')).toBeVisible();
  await see(page, 'account-security-passkey');

  const other = await newPage();
  await toSecondStep(other, email, passPhrase);
  await see(other, 'second-step');
  await other.getByLabel('Code from your app').fill('000000');
  await other.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(other.getByRole('alert')).toBeVisible();
  await see(other, 'second-step-refused');

  await page.goto('/organisation');
  await openSetting(page, 'Second factor');
  await page.getByRole('button', { name: 'Require a second factor' }).click();
  await expect(page.getByText(/^Required since/)).toBeVisible();
  await see(page, 'organisation-factor');
  const invitation = await inviteOn(page);
  const member = await newPage();
  await signIn(member, await makeOwner(service, request, { organisation: 'Quayside' }));
  await member.goto(invitation);
  await member.getByRole('button', { name: /^Join/ }).click();
  await member.waitForURL('/account/security/required');
  await see(member, 'account-required');
  await member.getByRole('button', { name: 'Set up an app' }).click();
  await expect(member.getByRole('img', { name: 'QR code of the key' })).toBeVisible();
  await see(member, 'account-required-app');

  const { stdout } = await service.operator('password-link', email);
  const password = 'quite another pass phrase';
  const token = new URL(stdout.trim()).searchParams.get('token') ?? '';
  const set = await request.post('/api/trpc/accounts.setPassword', { data: { token, password } });
  expect(set.status(), await set.text()).toBe(200);
  await toSecondStep(other, email, password);
  await useRecoveryCode(other, codes[0] ?? '');
  await expect(other).toHaveURL('/account/security/review');
  await see(other, 'account-review');
}
