import { expect, type Page } from '@playwright/test';

/**
 * Expects that every text field has the attributes for autofill and a phone's keyboard, that every table
 * header has a scope, and that every target is at least 24 by 24 pixels or within a sentence. The page
 * should have the size of a phone, where targets are smallest.
 */
export async function expectUsableElements(page: Page, at: string): Promise<void> {
  expect.soft(await faultyElements(page), at).toEqual([]);
}

function faultyElements(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const smallest = 24;
    const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
    const start = (element: Element) => element.outerHTML.slice(0, 160);

    const fields = all('input:not([type=hidden], [type=checkbox], [type=radio], [readonly], [hidden]), textarea');
    const needed = ['autocomplete', 'autocapitalize', 'enterkeyhint'];
    const heads = all('th:not([scope=col], [scope=row])');
    const targets = all('a, button, summary, select, label:has([type=checkbox], [type=radio])').filter((element) =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
    );

    /** A link within a sentence is as high as its line. */
    const isInText = (element: HTMLElement) => {
      const block = element.closest('p, li, dd, h1, h2, h3');
      return (
        element.matches('a, button') && block !== null && block.textContent?.trim() !== element.textContent?.trim()
      );
    };
    /** Visible to screen readers, or when focused: its box is not what is clicked. */
    const isClipped = (element: HTMLElement) => getComputedStyle(element).clipPath !== 'none';
    const isSmall = (element: HTMLElement) => {
      const { width, height } = element.getBoundingClientRect();
      return Math.min(width, height) < smallest;
    };

    return [
      ...fields.flatMap((field) =>
        needed.filter((name) => !field.getAttribute(name)).map((name) => `no ${name}: ${start(field)}`),
      ),
      ...heads.map((head) => `no scope: ${start(head)}`),
      ...targets
        .filter((target) => isSmall(target) && !isInText(target) && !isClipped(target))
        .map((target) => {
          const { width, height } = target.getBoundingClientRect();
          return `${width.toFixed(0)} by ${height.toFixed(0)} pixels: ${start(target)}`;
        }),
    ];
  });
}
