import type { Page } from '@playwright/test';

/**
 * Waits until the page has been rendered with a changed window or colour scheme: the browser applies the change with
 * the next frame, and what scripts move because of it appears in the frame after that.
 */
export function twoFrames(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}
