import type { Page } from '@playwright/test';
import { branding, name } from '../support/branding.ts';
import { expectAccessible } from '../support/browser/accessibility.ts';
import { expectNoLayoutShift, resize } from '../support/browser/layout-shift.ts';
import { expectUsableElements } from '../support/browser/page-elements.ts';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { approvedDomain, expect, startService, test } from '../support/service.ts';
import { unseenPages } from '../support/tour/routes.ts';
import { phone } from '../support/tour/tour-part.ts';
import { visitAllPages } from '../support/tour/visit-all-pages.ts';

test('every page is accessible in light and dark, fits on a phone, has fields and targets for it, does not move while it loads and shows only the company’s name', async ({
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
      await resize(page, phone);
      await expectFitsWindow(page, at);
      if (new URL(page.url()).origin === service.baseUrl) await expectUsableElements(page, at);
    });

    expect(unseenPages(seen)).toEqual([]);

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
