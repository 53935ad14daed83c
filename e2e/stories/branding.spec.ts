import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { branding, name } from '../support/branding.ts';
import { expectReadableColours } from '../support/browser/accessibility.ts';
import { makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { expect, startService, test } from '../support/service.ts';

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 24"><rect width="48" height="24" rx="4" fill="#777"/></svg>';

async function expectBranding(page: Page, path: string, pictures: string | undefined): Promise<void> {
  await page.goto(path);
  await expect(page).toHaveTitle(new RegExp(`– ${name}$`));
  expect(await page.content()).not.toContain('Gatehouse');
  // every-page.spec.ts checks the other rules, which a colour cannot break.
  await expectReadableColours(page, path);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    if (pictures) await page.screenshot({ path: `${pictures}${path.replaceAll('/', '_')}-${colorScheme}.png` });
  }
}

for (const [what, colour] of [
  ['a pale yellow', '#fff3b0'],
  ['a near-black', '#0b0b10'],
] as const) {
  test(`pages, icon and mail carry the company’s name, picture and colour: ${what}`, async ({
    playwright,
    browser,
  }) => {
    test.setTimeout(600_000);
    const pictured = http.createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(logo),
    );
    pictured.listen(0, '127.0.0.1');
    await once(pictured, 'listening');
    const logoUrl = `http://localhost:${(pictured.address() as AddressInfo).port}/logo.svg`;
    const service = await startService({
      environment: {
        ...branding,
        SERVICE_LOGO: logoUrl,
        BRAND_COLOR: colour,
        LOCALES: 'en',
      },
    });
    const pictures = process.env.OWN_NAME_PICTURES && `${process.env.OWN_NAME_PICTURES}/${colour.slice(1)}`;

    try {
      const context = await browser.newContext({ baseURL: service.baseUrl, locale: 'en-GB' });
      const page = await context.newPage();
      const refused: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') refused.push(message.text());
      });

      await test.step('before sign-in', async () => {
        for (const path of ['/login', '/signup']) await expectBranding(page, path, pictures);
        await expect(page.getByRole('link', { name: 'Continue with Company <ID>' })).toBeVisible();
        // There is nothing to choose.
        await expect(page.getByRole('group', { name: 'Language' })).toHaveCount(0);
        await expect(page.getByRole('link', { name: 'Help' })).toHaveAttribute('href', 'mailto:help@company.example');
        for (const [document, url] of [
          ['Terms', branding.TERMS_URL],
          ['Privacy', branding.PRIVACY_URL],
        ] as const) {
          await expect(page.getByRole('contentinfo').getByRole('link', { name: document })).toHaveAttribute(
            'href',
            url,
          );
          await expect(page.getByRole('main').locator(`a[href="${url}"]`)).toBeVisible();
        }
        const picture = page.locator(`img[src="${logoUrl}"]`);
        expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
        await expect(page.locator('link[rel=icon]')).toHaveAttribute('href', logoUrl);
        const icon = await page.request.get('/icon.svg');
        expect(icon.headers()['content-type']).toBe('image/svg+xml; charset=utf-8');
        expect(await icon.text()).toContain('<title>Larch &amp; &lt;b&gt;Sons&lt;/b&gt;</title>');
      });

      await test.step('the mail', async () => {
        const email = newEmail();
        await page.request.post('/api/signup', { data: { email, password: passPhrase } });
        const answer = () => page.request.get(`${service.sandboxUrl}/mailbox/messages?to=${encodeURIComponent(email)}`);
        await expect.poll(async () => (await (await answer()).json()).length).toBe(1);
        const [mail] = await (await answer()).json();
        expect(mail.subject).toBe(`Your link for ${name}`);
        expect(mail.html).toContain('Larch &amp; &lt;b&gt;Sons&lt;/b&gt;');
        expect(mail.html).toContain(`background:${colour}`);
      });

      await test.step('after sign-in', async () => {
        const request = await playwright.request.newContext({ baseURL: service.baseUrl });
        await makeOwner(service, request, { approved: false, organisation: 'Waiting Ltd' });
        await signIn(page, await makeOwner(service, request, { operator: true, organisation: 'Front desk' }));
        for (const path of ['/', '/billing', '/account', '/operator']) await expectBranding(page, path, pictures);
        await page.goto('/');
        await expect(page.getByRole('link', { name: 'Privacy' })).toHaveAttribute('href', branding.PRIVACY_URL);
        await expect(page.getByRole('link', { name: `Open ${name}` })).toHaveAttribute(
          'href',
          'https://app.company.example/',
        );
      });

      expect(refused, 'the policy blocks no part of the page').toEqual([]);
    } finally {
      await service.stop();
      pictured.close();
    }
  });
}
