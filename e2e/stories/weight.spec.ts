import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { builtClient, scriptsOfPages } from '../support/browser/built-scripts.ts';
import { layoutShifts } from '../support/browser/layout-shift.ts';
import { scriptsRun } from '../support/browser/scripts-run.ts';
import { makeOwner, signIn } from '../support/people.ts';
import { send } from '../support/raw-request.ts';
import { listenLocally } from '../support/servers/listen-locally.ts';
import { expect, test } from '../support/service.ts';
import { openSetting } from '../support/settings.ts';

for (const path of ['/login', '/signup']) {
  test(`${path} waits for one script, of at most 3,000 bytes compressed`, async ({ page, service }) => {
    const scripts = new Map<string, Promise<Buffer>>();
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.set(response.url(), response.body());
    });
    await page.goto(service.baseUrl + path);
    await page.getByRole('link', { name: /^(Create|Sign in)/ }).hover();
    await page.waitForLoadState('networkidle');

    const inline = await page.locator('script:not([src])').count();
    expect(inline).toBe(0);
    const bytesOf = async (url: string) => gzipSync((await scripts.get(url)) ?? '', { level: 9 }).length;
    // Passkeys have a script of their own, which runs whenever it comes.
    const passkeys = await page
      .locator('script[async]')
      .evaluateAll((all) => all.map((each) => (each as HTMLScriptElement).src));
    expect(passkeys).toHaveLength(path === '/login' ? 1 : 0);
    for (const url of passkeys) expect(await bytesOf(url)).toBeLessThanOrEqual(4_000);
    const [own = '', ...others] = [...scripts.keys()].filter((url) => !passkeys.includes(url));
    expect(others).toEqual([]);
    expect(await bytesOf(own)).toBeLessThanOrEqual(3_000);
  });
}

test('a browser without passkeys is offered none', async ({ page, service }) => {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'PublicKeyCredential'));
  await page.goto(`${service.baseUrl}/login`);
  await expect(page.getByRole('button', { name: 'Use a passkey' })).toBeHidden();
});

test('no page loads more than 12 scripts', async () => {
  const withoutKit = ['/login', '/signup', '/verify'];
  const pages = (await scriptsOfPages()).filter(({ route }) => !withoutKit.includes(route));

  expect(pages.map(({ route }) => route)).toContain('/(app)/billing');
  expect(pages.filter(({ files }) => files.length > 12)).toEqual([]);
});

test('a failed form stays in the document that was loaded: the scripts know the version that they belong to', async ({
  page,
  service,
}) => {
  const documents: string[] = [];
  const scripts = new Set<string>();
  page.on('request', (request) => {
    if (request.resourceType() === 'document') documents.push(request.url());
    if (request.resourceType() === 'script') scripts.add(request.url());
  });
  await signIn(page, await makeOwner(service, page.request));
  scripts.clear();
  await page.goto('/account');
  await page.waitForLoadState('networkidle');
  const [built] = (await scriptsOfPages()).filter(({ route }) => route === '/(app)/account/(tabs)');
  const loaded = () => [...scripts].map((url) => new URL(url).pathname.slice(1)).sort();
  await expect.poll(loaded).toEqual(built?.files.toSorted());
  await scriptsRun(page);
  await openSetting(page, 'Name');
  documents.length = 0;
  await page.getByLabel('Your name').fill('Mia \u202e Larch');
  await page.getByLabel('Your name').press('Enter');

  await expect(page.getByRole('alert')).toBeVisible();
  expect(documents).toEqual([]);
});

test('a page in a language of Latin script loads one font of at most 48,000 bytes', async ({ page, service }) => {
  await page.goto(`${service.baseUrl}/login`);
  await page.evaluate(() => {
    document.body.append('Łódź, Ștefan, Đặng, Straße, Ærø, 9x0 → 0123456789');
  });

  const fonts = await page.evaluate(async () => {
    await document.fonts.ready;
    return performance.getEntriesByType('resource').flatMap(({ name }) => name.match(/[^/]*\.woff2$/) ?? []);
  });
  expect(new Set(fonts)).toEqual(new Set([expect.stringMatching(/^inter-latin\./)]));
  const [font = ''] = fonts;
  expect(fs.statSync(path.join(builtClient, '_app/immutable/assets', font)).size).toBeLessThanOrEqual(48_000);
});

test('the layout does not shift when the font arrives late, and the next page is shown in it', async ({
  page,
  service,
}) => {
  await signIn(page, await makeOwner(service, page.request));
  let widthInFallback = 0;

  for (const path of ['/members?invite', '/', '/billing', '/account', '/organisation']) {
    let sendFont = () => {};
    const held = new Promise<void>((resolve) => {
      sendFont = resolve;
    });
    await page.route('**/*.woff2', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(service.baseUrl + path, { waitUntil: 'domcontentloaded' });
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    sendFont();
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => name.endsWith('.woff2')),
    );

    expect(await layoutShifts(page), path).toEqual([]);
    widthInFallback = await widthOfHeading(page);
    await page.unroute('**/*.woff2');
  }
  // The first load stores the font, the second one finds it.
  await page.reload({ waitUntil: 'networkidle' });
  await page.reload();
  expect(await widthOfHeading(page)).not.toBe(widthInFallback);

  await page.evaluate(() => document.body.prepend('This moves the page.'));
  expect(await layoutShifts(page)).toHaveLength(1);
});

test('the layout does not shift when the end of a page arrives late', async ({ page, service }) => {
  let sendEnd = () => {};
  const held = new Promise<void>((resolve) => {
    sendEnd = resolve;
  });
  const server = http.createServer(async ({ url }, response) => {
    const answer = await fetch(service.baseUrl + url, { headers: { accept: '*/*' } });
    const type = answer.headers.get('content-type') ?? '';
    const body = Buffer.from(await answer.arrayBuffer());
    const end = type.startsWith('text/html') ? body.indexOf('action="/language"') : 0;
    response.writeHead(answer.status, { 'content-type': type });
    response.write(body.subarray(0, end));
    if (end > 0) await held;
    response.end(body.subarray(end));
  });
  const { port, stop } = await listenLocally(server);

  // The footer is in the window.
  await page.setViewportSize({ width: 1280, height: 1200 });
  await page.goto(`http://localhost:${port}/signup`, { waitUntil: 'commit' });
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
  sendEnd();
  await expect(page.locator('summary', { hasText: 'English' })).toBeVisible();
  expect(await layoutShifts(page)).toEqual([]);
  await stop();
});

test('scripts and styles are sent compressed, and stay in the cache for a year', async ({ service }) => {
  const html = (await send(service, '/login')).text;
  const paths = ['js', 'css'].map((type) => html.match(new RegExp(`/_app/immutable/[^"]*\\.${type}`))?.[0] ?? type);

  for (const path of paths) {
    for (const encoding of ['br', 'gzip']) {
      const { status, headers } = await send(service, path, { headers: { 'accept-encoding': encoding } });
      expect([status, headers['content-encoding']], path).toEqual([200, encoding]);
      expect(headers.vary, path).toMatch(/accept-encoding/i);
      expect(headers['cache-control'], path).toBe('public,max-age=31536000,immutable');
      expect(headers['content-type'], path).toMatch(/^text\/(javascript|css)/);
    }
    expect((await send(service, path)).headers['content-encoding'], path).toBeUndefined();
  }
});

test('pages are not compressed, because their length could reveal a secret in them', async ({ service }) => {
  const { headers } = await send(service, '/login', { headers: { 'accept-encoding': 'gzip, br' } });

  expect(headers['content-encoding']).toBeUndefined();
});

test('a page is sent whole, with its length, and HEAD has the same length', async ({ service }) => {
  for (const path of ['/login', '/login', '/invitation?token=none', '/no-such-page']) {
    const { headers, text } = await send(service, path);
    expect(text, path).toMatch(/<\/html>\s*$/);
    expect(Number(headers['content-length']), path).toBeGreaterThanOrEqual(text.length);
    expect(headers['transfer-encoding'], path).toBeUndefined();

    const head = await send(service, path, { method: 'HEAD' });
    expect([head.text, head.headers['content-length']], path).toEqual(['', headers['content-length']]);
  }
});

function widthOfHeading(page: Page): Promise<number> {
  return page.getByRole('heading', { level: 1 }).evaluate((heading) => {
    const text = document.createRange();
    text.selectNodeContents(heading);
    return text.getBoundingClientRect().width;
  });
}
