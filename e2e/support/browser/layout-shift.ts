import { expect, type Page } from '@playwright/test';

type Shift = PerformanceEntry & { value: number; lastInputTime: number; sources: { node: Element | null }[] };

/** Expects that nothing on the page has moved since it was loaded, except after the user's input. */
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
  return page.evaluate(async (isAll) => {
    await document.fonts.ready;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: 'layout-shift', buffered: true });
    const shifts = observer.takeRecords() as Shift[];
    observer.disconnect();
    return shifts
      .filter(({ lastInputTime }) => isAll || lastInputTime === 0)
      .map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 120))]);
  }, afterInput);
}
