import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { branding, name } from '../support/branding.ts';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { expectNoLayoutShift } from '../support/browser/layout-shift.ts';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { approvedDomain, startService } from '../support/service.ts';
import { phone } from '../support/tour/tour-part.ts';
import { type Seen, visitAllPages } from '../support/tour/visit-all-pages.ts';

const routes = fileURLToPath(new URL('../../apps/web/src/routes', import.meta.url));

test('every page is accessible in light and dark, fits on a phone, hardly moves while it loads and shows only the company’s name', async ({
  browser,
  playwright,
}) => {
  test.setTimeout(600_000);
  // The built-in colour as a company's colour, so that the pages look as without branding.
  const environment = { ...branding, BRAND_COLOR: '#005f5d', APPROVED_DOMAINS: approvedDomain };
  const service = await startService({ environment });
  const request = await playwright.request.newContext({ baseURL: service.baseUrl });

  try {
    const seen = await visitAllPages({ browser, request, service }, async (page, at) => {
      if (new URL(page.url()).origin === service.baseUrl) {
        await expectNoLayoutShift(page, at);
        await expectBranding(page, at);
      }
      await expectAccessible(page, at);
      await page.setViewportSize(phone);
      await expectFitsWindow(page, at);
    });

    expect(filesCalled('+page.svelte').filter((file) => !seen.some((one) => isBelow(one, file, 'page')))).toEqual([]);
    expect(filesCalled('+error.svelte').filter((file) => !seen.some((one) => isBelow(one, file, 'error')))).toEqual([]);

    const bare = await request.post('/login', { headers: { origin: 'https://evil.example' }, form: { email: 'x' } });
    expect([bare.status(), bare.headers()['content-type']]).toEqual([403, 'text/html; charset=utf-8']);
    expect(await bare.text()).toContain(' – Larch &amp; &lt;b&gt;Sons&lt;/b&gt;</title>');
    expect(await bare.text()).not.toContain('Gatehouse');
  } finally {
    await request.dispose();
    await service.stop();
  }
});

async function expectBranding(page: Page, at: string): Promise<void> {
  expect.soft(await page.title(), at).toMatch(new RegExp(` – ${name}$`));
  expect.soft(await page.content(), at).not.toContain('Gatehouse');
  expect.soft(await page.locator('link[href^="/brand.css"]').count(), at).toBe(1);
}

function filesCalled(name: string): string[] {
  return fs.readdirSync(routes, { recursive: true, encoding: 'utf8' }).filter((file) => path.basename(file) === name);
}

/** Whether a visited path belongs to the route's page, or, for an error page, is an error below the route. */
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
