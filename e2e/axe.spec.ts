import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './service.ts';
import { phone } from './walk/leg.ts';
import { type Seen, walkPages } from './walk/walk.ts';

const routes = fileURLToPath(new URL('../apps/web/src/routes', import.meta.url));

test('axe finds nothing on any page in light and dark, none is wider than a phone, and none is left out', async ({
  browser,
  request,
  service,
}) => {
  test.setTimeout(240_000);
  const seen = await walkPages({ browser, request, service }, async (page, name) => {
    await expectNoFindings(page, name);
    await expectNoWiderThanAPhone(page, name);
  });

  expect(filesCalled('+page.svelte').filter((file) => !seen.some((one) => isBelow(one, file, 'page')))).toEqual([]);
  expect(filesCalled('+error.svelte').filter((file) => !seen.some((one) => isBelow(one, file, 'error')))).toEqual([]);
});

/** All rules in light, and in dark those that a colour can break: the rest of the page is the same. */
async function expectNoFindings(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // Legacy: else each analysis opens a page of its own for its sums.
    const axe = new AxeBuilder({ page }).setLegacyMode();
    if (colorScheme === 'dark') axe.withRules(['color-contrast', 'link-in-text-block']);
    const { violations } = await axe.analyze();
    const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
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
