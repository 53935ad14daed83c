import fs from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';

type Axe = {
  run: (on: Document, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};

const require = createRequire(import.meta.url);
const axeSource = fs.readFileSync(createRequire(require.resolve('@axe-core/playwright')).resolve('axe-core'), 'utf8');
const looks = [
  { colorScheme: 'light', rules: null },
  { colorScheme: 'dark', rules: ['color-contrast', 'link-in-text-block'] },
] as const;

/** Expects no finding of axe: of all rules in light, and in dark of those that a colour can break. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  // Once for both, which @axe-core/playwright would not do. By the debugger, which no policy of a page forbids.
  await page.evaluate(axeSource);
  for (const { colorScheme, rules } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await page.evaluate(async (only) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const { violations } = await axe.run(document, { iframes: false, ...(only && { runOnly: only }) });
      return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    }, rules);
    expect.soft(found, `${name}, ${colorScheme}`).toEqual([]);
  }
}
