import { expect } from '@playwright/test';
import { signIn } from '../people.ts';
import type { TourPart } from './tour-part.ts';

/** Visits the operators' pages about payment events. */
export async function operatorEvents({ newPage, see }: TourPart): Promise<void> {
  const page = await newPage();
  await signIn(page, 'desk@gatehouse.example');

  await see(page, 'operator-keys', '/operator/keys');
  await see(page, 'operator-audit', '/operator/audit');
  await see(page, 'operator-events-nothing-found', '/operator/events?search=nothing-of-this-sort');
  await see(page, 'operator-events', '/operator/events?search=Harbour');
  await page.getByRole('link', { name: 'Subscription created' }).click();
  await expect(page.locator('pre')).toBeVisible();
  await see(page, 'operator-event');
  await page.getByRole('link', { name: 'Harbour Analytics' }).click();
  await expect(page.getByRole('heading', { name: 'Harbour Analytics' })).toBeVisible();
  await see(page, 'operator-billing-history');
  await see(page, 'operator-drift', '/operator/events/drift');
  await page.getByRole('button', { name: 'Compare all now' }).click();
  await expect(page.getByRole('status').getByText(/subscriptions? compared/)).toBeVisible();
  await see(page, 'operator-drift-compared');
}
