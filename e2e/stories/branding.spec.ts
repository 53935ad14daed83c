import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { branding, name } from '../support/branding.ts';
import { expectReadableColours } from '../support/browser/accessibility.ts';
import { makeOwner, newEmail, passPhrase, signIn } from '../support/people.ts';
import { expect, startService, test } from '../support/service.ts';

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 24"><rect width="48" height="24" rx="4" fill="#777"/></svg>';

async function expectBranding(page: Page, at: string, pictures: string | undefined): Promise<void> {
  await page.goto(at);
  await expect(page).toHaveTitle(new RegExp(`– ${name}$`));
  expect(await page.content()).not.toContain('Gatehouse');
  // every-page.spec.ts checks the other rules, which a colour cannot break.
  await expectReadableColours(page, at);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    if (pictures) await page.screenshot({ path: `${pictures}${at.replaceAll('/', '_')}-${colorScheme}.png` });
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
        for (const at of ['/login', '/signup']) await expectBranding(page, at, pictures);
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
        for (const at of ['/', '/billing', '/account', '/operator']) await expectBranding(page, at, pictures);
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

const wordmark = (fill: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 24"><rect width="120" height="24" fill="${fill}"/></svg>`;

/** The colours of an element as a screen shows them: red, green and blue. */
function shownColour(element: Locator, property: 'backgroundColor' | 'color'): Promise<number[]> {
  return element.evaluate((target, name) => {
    const context = document.createElement('canvas').getContext('2d');
    if (context === null) throw new Error('There is no canvas.');
    context.fillStyle = getComputedStyle(target)[name];
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }, property);
}

test('a wordmark of a local file replaces the name, in its own picture for the dark scheme, and #ffe600 stays yellow', async ({
  browser,
}) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'logo-'));
  fs.writeFileSync(path.join(folder, 'light.svg'), wordmark('#222'));
  fs.writeFileSync(path.join(folder, 'dark.svg'), wordmark('#eee'));
  const service = await startService({
    environment: {
      ...branding,
      SERVICE_LOGO: path.join(folder, 'light.svg'),
      SERVICE_LOGO_DARK: path.join(folder, 'dark.svg'),
      BRAND_COLOR: '#ffe600',
    },
  });

  try {
    const page = await browser.newPage({ baseURL: service.baseUrl });
    await page.goto('/login');
    const mark = page.locator('a.mark');
    await expect(mark).toHaveAccessibleName(name);
    await expect(mark.locator('img:visible')).toHaveAttribute('src', /^\/logo\/light\?/);
    expect((await mark.locator('span').boundingBox())?.width).toBeLessThanOrEqual(1);
    await expect(page.locator('link[rel=icon]')).toHaveAttribute('href', /^\/icon\.svg/);
    expect(await shownColour(page.getByRole('button', { name: 'Sign in', exact: true }), 'backgroundColor')).toEqual([
      255, 230, 0,
    ]);
    await expectReadableColours(page, '/login');
    const picture = await page.request.get((await mark.locator('img').first().getAttribute('src')) ?? '');
    expect(picture.headers()).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect((await page.request.get('/logo/other')).status()).toBe(404);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect(mark.locator('img:visible')).toHaveAttribute('src', /^\/logo\/dark\?/);

    await page.emulateMedia({ colorScheme: 'light' });
    await signIn(page, await makeOwner(service, page.request));
    await page.goto('/billing');
    const [red = 0, green = 0, blue = 0] = await shownColour(page.locator('progress').first(), 'color');
    expect(Math.max(red, green, blue) - Math.min(red, green, blue), 'a meter below 80 % is grey').toBeLessThan(40);
    await page.close();
  } finally {
    await service.stop();
    fs.rmSync(folder, { recursive: true });
  }
});

test('a logo that cannot be loaded gives way to the built-in mark, before sign-in and after it', async ({
  browser,
}) => {
  const service = await startService({ environment: { ...branding, SERVICE_LOGO: 'http://localhost:9/logo.svg' } });
  try {
    const page = await browser.newPage({ baseURL: service.baseUrl });
    await page.goto('/login');
    const mark = page.locator('a.mark');
    await expect(mark).toHaveAccessibleName(name);
    await expect(mark.locator('svg')).toBeVisible();
    await expect(mark.locator('img')).toBeHidden();
    await expect(mark.getByText(name)).toBeVisible();
    await signIn(page, await makeOwner(service, page.request));
    await page.goto('/');
    await expect(page.getByRole('banner').locator('a.mark svg')).toBeVisible();
    await page.close();
  } finally {
    await service.stop();
  }
});
