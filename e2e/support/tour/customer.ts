import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import { expect, type Page } from '@playwright/test';
import { linkFor, passPhrase, signIn } from '../people.ts';
import { holdPaymentsBack, subscriptionControls } from '../provider.ts';
import { openSetting } from '../settings.ts';
import { phone, type TourPart } from './tour-part.ts';

const email = 'owner@harbour.example';

/**
 * Visits the pages of the owner whom visitors.ts signed up: approval, a plan from checkout to its
 * end, and a change of address.
 */
export async function customer(part: TourPart): Promise<void> {
  const { service, newPage, see } = part;
  const page = await newPage();
  await signIn(page, email);
  await see(page, 'awaiting-approval', '/awaiting-approval');
  await see(page, 'awaiting-approval-account', '/awaiting-approval/account');
  expect((await service.operator('approve', email)).stderr).toBe('');
  await see(page, 'onboarding', '/onboarding');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.waitForURL('/');

  await see(page, 'home', '/');
  await page.getByLabel('your account').click();
  await see(page, 'home-account-menu');
  await page.goto('/');
  await page.setViewportSize(phone);
  await page.getByLabel('Menu', { exact: true }).click();
  await see(page, 'home-phone-menu');
  await see(page, 'members', '/members');
  await see(page, 'forbidden', '/operator');

  await seePayment(part, page);
  await seeAccount(part, page);
}

/** Reports calls of thirty days by a key of the deployment, so that the chart of the billing page has bars. */
async function useMeters({ service }: TourPart, page: Page): Promise<void> {
  const { organisation } = await (await page.request.get('/api/session')).json();
  const { stdout: key } = await service.operator('api-key', 'create', '--name', 'Usage', '--scope', 'WRITE');
  const records = Array.from({ length: 30 }, (_, daysAgo) => ({
    organisation: organisation.id,
    meter: 'api_calls',
    amount: 400 + ((daysAgo * 137) % 600),
    idempotency_key: `day ${daysAgo}`,
    at: new Date(Date.now() - daysAgo * dayMilliseconds).toISOString(),
  }));
  const headers = { authorization: `Bearer ${key.trim()}` };
  expect((await page.request.post('/api/usage/report', { headers, data: { records } })).status()).toBe(200);
}

async function seePayment(part: TourPart, page: Page): Promise<void> {
  const { service, see } = part;
  await see(page, 'billing-free', '/billing');
  await see(page, 'billing-checkout-left', '/billing?checkout=cancel');
  await page.getByRole('button', { name: 'Choose Silver' }).click();
  await page.waitForURL(`${service.sandboxUrl}/**`);
  await see(page, 'sandbox-checkout');
  await page.getByLabel(/0002/).first().check();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'sandbox-checkout-declined');

  await page.getByLabel(/4242/).first().check();
  const release = await holdPaymentsBack(service);
  try {
    await page.getByRole('button', { name: /^Pay/ }).click();
    await expect(page.getByText('Confirming your payment')).toBeVisible();
    await see(page, 'billing-confirming');
    await see(page, 'billing-not-confirmed', '/billing?checkout=success&look=10');
  } finally {
    await release();
  }
  // A page that is still confirming changes when the plan is there, which would count as a layout shift.
  await expect.poll(async () => (await (await page.request.get('/api/subscription')).json()).plan.tier).toBe('silver');
  await page.goto('/billing?checkout=success');
  await expect(page.getByText('You are on Silver')).toBeVisible();
  await see(page, 'billing-paid');
  await useMeters(part, page);
  await see(page, 'billing-silver', '/billing');
  await see(page, 'home-silver', '/');
  await see(page, 'billing-change-dialog', '/billing?ask=change&tier=gold');
  await see(page, 'billing-cancel-dialog', '/billing?ask=cancel');
  await page.getByRole('button', { name: 'Cancel Silver' }).click();
  await expect(page.getByText(/Ends on/)).toBeVisible();
  await see(page, 'billing-ending');
  await see(page, 'home-ending', '/');
  await page.goto('/billing');
  await page.getByRole('button', { name: 'Keep Silver' }).click();
  await expect(page.getByText(/Renews on/)).toBeVisible();
  await page.getByRole('button', { name: 'Payment and invoices' }).click();
  await page.waitForURL(`${service.sandboxUrl}/**`);
  await see(page, 'sandbox-portal');
  await page.getByRole('list').getByRole('link').first().click();
  await see(page, 'sandbox-invoice');

  const life = await subscriptionControls(service, page.request);
  await life.everythingDelivered();
  await life.sendsInvoices(14);
  await life.periodEnds();
  await life.everythingDelivered();
  // The page shows what the provider answered up to five seconds ago.
  await expect(async () => {
    await page.goto('/billing');
    await expect(page.getByText(/Due in \d+ days/)).toBeVisible({ timeout: 500 });
  }).toPass();
  await see(page, 'billing-sent-invoice', '/billing');
  await life.becomes('past_due');
  await life.everythingDelivered();
  await see(page, 'billing-past-due', '/billing');
  await see(page, 'home-past-due', '/');
}

async function seeAccount({ service, see }: TourPart, page: Page): Promise<void> {
  await see(page, 'logout', '/logout');
  await see(page, 'account-data', '/account/data');
  await see(page, 'account', '/account');
  await see(page, 'account-security', '/account/security');
  await openSetting(page, 'Password');
  await see(page, 'account-change-password');
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await expect(page.getByRole('alert').first()).toBeVisible();
  await see(page, 'account-refused');
  await see(page, 'account-delete', '/account/delete');
  await page.getByRole('button', { name: 'Delete the account' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await see(page, 'account-delete-refused');

  await page.goto('/account');
  await openSetting(page, 'E-mail');
  await page.getByLabel('New address').fill('post@harbour.example');
  await page.locator('#address-password').fill(passPhrase);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await expect(page.getByRole('status').getByText('a link is on its way')).toBeVisible();
  await openSetting(page, 'E-mail');
  await expect(page.locator('#address-password')).toHaveValue('');
  await page.locator('summary', { hasText: 'E-mail' }).click();
  await see(page, 'account-link-sent');
  await see(page, 'verify-address-changed', await linkFor(service, 'post@harbour.example'));
}
