import { expect } from '@playwright/test';
import { difficultNames, makeOwner, signIn } from '../people.ts';
import { newestId, type TourPart } from './tour-part.ts';

/** Visits the operators' pages about organisations and people, including a password link. */
export async function queue({ service, request, newPage, see }: TourPart): Promise<void> {
  const waiting = { approved: false };
  await makeOwner(service, request, { ...waiting, organisation: 'Larch & Sons', email: 'owner@larch.example' });
  await makeOwner(service, request, { ...waiting, organisation: 'Northern Light Optics', email: 'ida@optics.example' });
  for (const organisation of difficultNames) await makeOwner(service, request, { ...waiting, organisation });
  const page = await newPage();
  const operator = { operator: true, organisation: 'Front desk', email: 'desk@gatehouse.example' };
  await signIn(page, await makeOwner(service, request, operator));

  await see(page, 'operator', '/operator');
  await page.getByLabel('Select Northern Light Optics').check();
  await see(page, 'operator-selected');
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox').fill('sync');
  await see(page, 'operator-commands');
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await see(page, 'operator-shortcuts');
  await page.goto('/operator');
  await page.getByRole('link', { name: 'Decline Northern Light Optics' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'operator-decline-dialog');
  await page.goto('/operator');
  await page.getByRole('button', { name: 'Approve Northern Light Optics' }).click();
  await expect(page.getByRole('status').getByText('Northern Light Optics is approved.')).toBeVisible();
  await see(page, 'operator-approved');
  await see(page, 'operator-nothing-found', '/operator?search=nothing-of-this-sort');
  await see(page, 'operator-decided', '/operator/decided');

  await see(page, 'operator-organisations', '/operator/organisations');
  await see(page, 'operator-organisations-nothing-found', '/operator/organisations?search=nothing-of-this-sort');
  await see(page, 'operator-organisations-older', `/operator/organisations?after=${newestId}`);
  await page.goto('/operator/organisations?search=optics');
  await page.getByRole('link', { name: 'Northern Light Optics' }).click();
  await expect(page.getByRole('heading', { name: 'Northern Light Optics' })).toBeVisible();
  await see(page, 'operator-organisation');
  await page.getByRole('link', { name: 'Agree on something' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'operator-organisation-override-dialog');
  await page.getByRole('dialog').getByLabel('Plan').selectOption('Gold');
  await page.getByRole('dialog').getByLabel('Reason').fill('By contract.');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: 'End it' })).toBeVisible();
  await see(page, 'operator-organisation-override');
  await page.getByRole('button', { name: 'End it' }).click();
  await expect(page.getByRole('button', { name: 'End it' })).toBeHidden();
  await page.getByRole('link', { name: 'Suspend Northern Light Optics' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'operator-organisation-suspend-dialog');

  await see(page, 'operator-people', '/operator/people');
  await see(page, 'operator-people-nobody-found', '/operator/people?search=nobody-of-this-name');
  await see(page, 'operator-people-found', '/operator/people?search=optics');
  await page.getByRole('link', { name: 'ida@optics.example' }).click();
  await expect(page.getByRole('heading', { name: 'ida@optics.example' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Operator', exact: true })).toBeVisible();
  await see(page, 'operator-person');
  await page.getByRole('link', { name: 'Delete account of ida@optics.example' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'operator-person-delete-dialog');
  await page.getByRole('dialog').getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Suspend ida@optics.example' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'operator-person-suspend-dialog');
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await expect(page.getByRole('status').getByText('ida@optics.example is suspended.')).toBeVisible();
  await see(page, 'operator-person-suspended');
  await page.getByRole('button', { name: 'Restore ida@optics.example' }).click();
  await page.getByRole('button', { name: 'Password link for ida@optics.example' }).click();
  const link = await page.getByLabel('The password link').inputValue();
  await see(page, 'operator-person-password-link');

  const theirs = await newPage();
  await see(theirs, 'password', link);
  await theirs.getByLabel('New password').fill('short');
  await theirs.getByRole('button', { name: 'Set the password' }).click();
  await expect(theirs.getByRole('alert')).toBeVisible();
  await expect(theirs.getByText('ida@optics.example')).toBeVisible();
  await see(theirs, 'password-refused');
}
