import { expect } from '@playwright/test';
import { inviteOn, makeOwner, signIn, signInOnPage } from '../people.ts';
import type { TourPart } from './tour-part.ts';

/**
 * Visits the pages of an invitation: the customer invites a user who already has an organisation and
 * then belongs to two.
 */
export async function invitations({ service, request, newPage, see }: TourPart): Promise<void> {
  const page = await newPage();
  await signIn(page, 'post@harbour.example');
  await see(page, 'members-invite-dialog', '/members?invite');
  const invitation = await inviteOn(page, 'Member', 'Mia, accounts');
  await see(page, 'members-invited');

  const theirs = await newPage();
  await see(theirs, 'invitation-refused', '/invitation?token=x');
  await see(theirs, 'invitation', invitation);
  await theirs.getByRole('button', { name: 'Create an account' }).click();
  await theirs.waitForURL('/signup');
  await see(theirs, 'signup-invited');
  await see(theirs, 'login-invited', '/login');
  const other = { organisation: 'Quayside Studio', email: 'mia@quayside.example' };
  await signInOnPage(theirs, await makeOwner(service, request, other));
  await expect(theirs).toHaveURL('/invitation');
  await see(theirs, 'invitation-join');
  await theirs.getByRole('button', { name: /^Join/ }).click();
  await theirs.getByRole('button', { name: 'Continue', exact: true }).click();
  await theirs.waitForURL('/');
  await theirs.getByRole('button', { name: /switch organisation/ }).click();
  await expect(theirs.getByRole('menuitemradio', { name: 'Quayside Studio' })).toBeVisible();
  await see(theirs, 'home-switch-organisation');

  await see(page, 'members-two', '/members');
  await see(page, 'organisation', '/organisation');
  await see(page, 'keys', '/keys');
  await see(page, 'organisation-audit', '/organisation/audit');
  await see(page, 'organisation-create', '/organisation?create');
  await see(page, 'organisation-transfer-dialog', '/organisation?ask=transfer');
  await see(page, 'organisation-delete-dialog', '/organisation?ask=delete');
  await page.goto('/members');
  await page.getByRole('link', { name: /^Remove/ }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'members-remove-dialog');
  await see(theirs, 'members-leave-dialog', '/members?leave');
}
