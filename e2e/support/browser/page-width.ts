import { expect, type Page } from '@playwright/test';
import { twoFrames } from './frames.ts';

/** Expects that the page does not scroll sideways. The room that a page keeps for a scroll bar does not count as its own. */
export async function expectFitsWindow(page: Page, at: string): Promise<void> {
  // An open menu moves into the window after a change of its size.
  await twoFrames(page);
  const { scrollWidth, clientWidth } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    clientWidth: document.documentElement.clientWidth,
  }));
  expect.soft(scrollWidth, `${at}, the width of the page`).toBeLessThanOrEqual(clientWidth);
}
