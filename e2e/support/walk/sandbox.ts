import type { Walk } from './leg.ts';

/** The sandbox's own pages; its checkout, portal and invoice are seen by the customer. */
export async function sandbox({ service, somebody, see }: Walk): Promise<void> {
  const page = await somebody();
  await see(page, 'sandbox-start', service.sandboxUrl);
  await see(page, 'sandbox-control', `${service.sandboxUrl}/control`);
  await see(page, 'sandbox-identity-provider', `${service.sandboxUrl}/idp`);
  await page.goto('/login');
  await page.getByRole('link', { name: /^Continue with/ }).click();
  await page.waitForURL(`${service.sandboxUrl}/idp/**`);
  await see(page, 'sandbox-choose-account');
  await see(page, 'sandbox-mailbox', `${service.sandboxUrl}/mailbox`);
  await page
    .getByRole('link', { name: /^Confirm your/ })
    .first()
    .click();
  await see(page, 'sandbox-mail');
}
