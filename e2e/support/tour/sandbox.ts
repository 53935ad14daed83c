import type { TourPart } from './tour-part.ts';

/** Visits the sandbox's pages. Its checkout, portal and invoice are visited by customer.ts. */
export async function sandbox({ service, newPage, see }: TourPart): Promise<void> {
  const page = await newPage();
  await see(page, 'sandbox-start', service.sandboxUrl);
  await see(page, 'sandbox-control', `${service.sandboxUrl}/control`);
  await see(page, 'sandbox-identity-provider', `${service.sandboxUrl}/idp`);
  await page.goto('/login');
  await page.getByRole('link', { name: /^Continue with/ }).click();
  await page.waitForURL(`${service.sandboxUrl}/idp/**`);
  await see(page, 'sandbox-choose-account');
  await see(page, 'sandbox-mailbox', `${service.sandboxUrl}/mailbox`);
  await page
    .getByRole('link', { name: /^Your link for/ })
    .first()
    .click();
  await see(page, 'sandbox-mail');
}
