import { expect, type Page } from '@playwright/test';

/** Expects that the page does not scroll sideways. The room that a page keeps for a scroll bar does not count as its own. */
export async function expectFitsWindow(page: Page, at: string): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(async () => {
    // An open menu moves into the window in the frame after a change of its size.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  expect.soft(scrollWidth, `${at}, the width of the page`).toBeLessThanOrEqual(clientWidth);
}
