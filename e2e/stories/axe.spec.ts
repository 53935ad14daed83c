import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/service.ts';
import { phone } from '../support/tour/tour-part.ts';
import { type Seen, visitAllPages } from '../support/tour/visit-all-pages.ts';

type Axe = {
  run: (on: Document, options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};

const require = createRequire(import.meta.url);
const axeSource = fs.readFileSync(createRequire(require.resolve('@axe-core/playwright')).resolve('axe-core'), 'utf8');
const looks = [
  { colorScheme: 'light', rules: null },
  { colorScheme: 'dark', rules: ['color-contrast', 'link-in-text-block'] },
] as const;

const routes = fileURLToPath(new URL('../../apps/web/src/routes', import.meta.url));

test('axe finds nothing on any page in light and dark, none is wider than a phone, and none is left out', async ({
  browser,
  request,
  service,
}) => {
  test.setTimeout(600_000);
  const seen = await visitAllPages({ browser, request, service }, async (page, name) => {
    await expectNoFindings(page, name);
    await expectNoWiderThanAPhone(page, name);
  });

  expect(filesCalled('+page.svelte').filter((file) => !seen.some((one) => isBelow(one, file, 'page')))).toEqual([]);
  expect(filesCalled('+error.svelte').filter((file) => !seen.some((one) => isBelow(one, file, 'error')))).toEqual([]);
});

/** All rules in light, and in dark those that a colour can break: the rest of the page is the same. */
async function expectNoFindings(page: Page, name: string): Promise<void> {
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

async function expectNoWiderThanAPhone(page: Page, name: string): Promise<void> {
  await page.setViewportSize(phone);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect.soft(width, `${name} on a phone`).toBeLessThanOrEqual(phone.width);
}

function filesCalled(name: string): string[] {
  return fs.readdirSync(routes, { recursive: true, encoding: 'utf8' }).filter((file) => path.basename(file) === name);
}

/** Whether what was seen is that page itself, or, of an error page, one below it that went wrong. */
function isBelow({ path: seen, status }: Seen, file: string, kind: 'page' | 'error'): boolean {
  if (status >= 400 !== (kind === 'error')) return false;
  const pattern = path
    .dirname(file)
    .split(path.sep)
    .filter((part) => part !== '.' && !/^\(.*\)$/.test(part))
    .map((part) => (/^\[.*\]$/.test(part) ? '/[^/]+' : `/${part}`))
    .join('');
  return new RegExp(kind === 'page' ? `^${pattern || '/'}$` : `^${pattern}(/.*)?$`).test(seen);
}
