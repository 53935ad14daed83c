import { expect, type Page } from '@playwright/test';

type Shift = PerformanceEntry & { value: number; lastInputTime: number; sources: { node: Element | null }[] };

/** Chromium's own mark of what a new size has moved ends after half a second, and on a slow machine its effect comes later. */
const resized = 'resized-by-a-test';

/** Gives the page another size. What moves by it, and later, counts no more as moved while the page loaded. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.evaluate((name) => performance.mark(name), resized);
  await page.setViewportSize(size);
}

/** Expects that nothing on the page has moved since it was loaded, except after the user's input or a new size. */
export async function expectNoLayoutShift(page: Page, at: string): Promise<void> {
  const shifts = await layoutShifts(page);
  const sum = shifts.reduce((total, [value]) => total + Number(value), 0);
  expect.soft(sum.toFixed(3), `what moved on ${at}: ${JSON.stringify(shifts)}`).toBe('0.000');
}

/**
 * Returns the layout shifts that Chromium has recorded, each one's value and the elements that moved: those before the
 * user's first input on the document, or all. Chromium's own mark of what an input has moved ends half a second after
 * it, and on a slow machine its effect comes later.
 */
export function layoutShifts(page: Page, { afterInput = false } = {}): Promise<unknown[][]> {
  return page.evaluate(
    async ({ isAll, name }) => {
      await document.fonts.ready;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: 'layout-shift', buffered: true });
      const shifts = observer.takeRecords() as Shift[];
      observer.disconnect();
      const end = performance.getEntriesByName(name)[0]?.startTime ?? Number.POSITIVE_INFINITY;
      return shifts
        .filter(({ lastInputTime, startTime }) => isAll || (lastInputTime === 0 && startTime < end))
        .map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 120))]);
    },
    { isAll: afterInput, name: resized },
  );
}
