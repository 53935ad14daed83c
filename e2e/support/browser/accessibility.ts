import fs from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';

type Axe = {
  run: (on: Document, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};

const require = createRequire(import.meta.url);
const axeSource = fs.readFileSync(createRequire(require.resolve('@axe-core/playwright')).resolve('axe-core'), 'utf8');
const colourRules = ['color-contrast', 'link-in-text-block'];

/** Expects no finding of axe: of all rules in light, and in dark of those that a colour can break. */
export function expectAccessible(page: Page, name: string): Promise<void> {
  return expectNoFinding(page, name, { light: null, dark: colourRules });
}

/** Expects no finding of axe, in light and dark, of the rules that a company's colour can break. */
export function expectReadableColours(page: Page, name: string): Promise<void> {
  return expectNoFinding(page, name, { light: colourRules, dark: colourRules });
}

/** Checks a page by the named rules in each colour scheme, or by all rules where they are null. */
async function expectNoFinding(page: Page, name: string, rulesIn: Record<'light' | 'dark', string[] | null>) {
  // Evaluated once for both colour schemes, unlike by @axe-core/playwright, and through the debugger, which the
  // policy of a page does not forbid.
  await page.evaluate(axeSource);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await page.evaluate(async (only) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const { violations } = await axe.run(document, { iframes: false, ...(only && { runOnly: only }) });
      return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    }, rulesIn[colorScheme]);
    expect.soft(found, `${name}, ${colorScheme}`).toEqual([]);
  }
}
