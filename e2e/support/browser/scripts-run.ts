import { expect, type Page } from '@playwright/test';

/**
 * Waits until the scripts of a page that Kit runs have taken over its forms and links. Before that, some time after the
 * page's `load`, they work as without JavaScript.
 */
export async function scriptsRun(page: Page): Promise<void> {
  // Kit adds it once all components are mounted.
  await expect(page.locator('#svelte-announcer')).toBeAttached();
}
