import type { Page } from '@playwright/test';

/** Opens the form in a row of /account, unless it is open. */
export async function openSetting(page: Page, name: string | RegExp): Promise<void> {
  const row = page.locator('details').filter({ has: page.locator('summary').getByText(name, { exact: true }) });
  if ((await row.getAttribute('open')) === null) await row.locator(':scope > summary').click();
}
