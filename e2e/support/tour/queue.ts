import { expect } from '@playwright/test';
import { makeOwner, signIn } from '../people.ts';
import type { TourPart } from './tour-part.ts';

/** Visits the operators' pages about organisations and people, including a password link. */
export async function queue({ service, request, newPage, see }: TourPart): Promise<void> {
  const waiting = { approved: false };
  await makeOwner(service, request, { ...waiting, organisation: 'Larch & Sons', email: 'owner@larch.example' });
  await makeOwner(service, request, { ...waiting, organisation: 'Northern Light Optics', email: 'ida@optics.example' });
  const page = await newPage();
  const operator = { operator: true, organisation: 'Front desk', email: 'desk@gatehouse.example' };
  await signIn(page, await makeOwner(service, request, operator));

  await see(page, 'operator', '/operator');
  await page.getByLabel('Select Northern Light Optics').check();
  await see(page, 'operator-selected');
  await page.getByRole('link', { name: 'Decline Northern Light Optics' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await see(page, 'operator-decline-dialog');
  await page.goto('/operator');
  await page.getByRole('button', { name: 'Approve Northern Light Optics' }).click();
  await expect(page.getByRole('status').getByText('One approved.')).toBeVisible();
  await see(page, 'operator-approved');
  await see(page, 'operator-nothing-found', '/operator?search=nothing-of-this-sort');

  await see(page, 'operator-people', '/operator/people');
  await see(page, 'operator-people-nobody-found', '/operator/people?search=nobody-of-this-name');
  await see(page, 'operator-people-found', '/operator/people?search=optics');
  await page.getByRole('button', { name: 'Make a password link for ida@optics.example' }).click();
  const link = (await page.getByText(/\/password\?token=/).textContent()) ?? '';
  await see(page, 'operator-people-password-link');
  await page.getByRole('link', { name: 'ida@optics.example' }).click();
  await expect(page.getByRole('heading', { name: 'ida@optics.example' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Operator', exact: true })).toBeVisible();
  await see(page, 'operator-person');

  const theirs = await newPage();
  await see(theirs, 'password', link);
  await theirs.getByLabel('New password').fill('short');
  await theirs.getByRole('button', { name: 'Set the password' }).click();
  await expect(theirs.getByRole('alert')).toBeVisible();
  await expect(theirs.getByText('ida@optics.example')).toBeVisible();
  await see(theirs, 'password-refused');
}
