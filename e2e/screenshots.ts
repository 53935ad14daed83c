import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { languages } from '@gatehouse/languages/generated/languages';
import { addNote, signInAtNotes, startExample } from './support/example.ts';
import { makeOwner } from './support/people.ts';
import { expect, test } from './support/service.ts';
import { phone, wide } from './support/tour/tour-part.ts';
import { visitTranslatedPages } from './support/tour/translated-pages.ts';
import { visitAllPages } from './support/tour/visit-all-pages.ts';

const folder = fileURLToPath(new URL('./pictures', import.meta.url));
const shapes = [
  { shape: 'light-wide', colorScheme: 'light', size: wide },
  { shape: 'dark-wide', colorScheme: 'dark', size: wide },
  { shape: 'light-phone', colorScheme: 'light', size: phone },
] as const;

test('a picture of every page, light, dark and on a phone', async ({ browser, request, service }) => {
  fs.mkdirSync(folder, { recursive: true });
  const written = new Set<string>();

  await visitAllPages({ browser, request, service }, async (page, name) => {
    for (const { shape, colorScheme, size } of shapes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize(size);
      const file = `${name}-${shape}.png`;
      await page.screenshot({ path: `${folder}/${file}`, fullPage: true });
      written.add(file);
    }
  });

  for (const file of fs.readdirSync(folder)) {
    if (!written.has(file) && !/^(example|de|fr)-/.test(file)) fs.rmSync(`${folder}/${file}`);
  }
});

for (const language of ['de', 'fr'] as const) {
  const { name: inItself, locale } = languages[language];

  test(`a picture of every page in ${inItself}, wide and on the narrowest phone`, async ({
    browser,
    request,
    service,
  }) => {
    fs.mkdirSync(folder, { recursive: true });
    const context = await browser.newContext({ baseURL: service.baseUrl, locale, reducedMotion: 'reduce' });
    let count = 0;
    await visitTranslatedPages(language, { page: await context.newPage(), request, service }, async (page) => {
      const place = new URL(page.url()).pathname.split('/').filter((part) => /^[a-z-]+$/.test(part));
      const name = [language, String(++count).padStart(2, '0'), ...place].join('-');
      for (const [shape, size] of Object.entries({ wide, narrow: { width: 320, height: 640 } })) {
        await page.setViewportSize(size);
        await page.screenshot({ path: `${folder}/${name}-${shape}.png`, fullPage: true });
      }
      await page.setViewportSize(wide);
    });
    await context.close();
  });
}

test('a picture of the example, whose plan refuses one note more', async ({ browser }) => {
  const example = await startExample();
  try {
    const { baseUrl } = example.service;
    const context = await browser.newContext({ baseURL: baseUrl, viewport: wide });
    const page = await context.newPage();
    await signInAtNotes(page, example, await makeOwner(example.service, context.request));
    for (const text of ['Ask the mill about oak', 'Invoice for the pier', 'New saw blades', 'Visit the harbour']) {
      await addNote(page, text);
    }
    await expect(page.getByRole('alert')).toBeVisible();
    for (const { shape, colorScheme, size } of shapes) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      await page.screenshot({ path: `${folder}/example-notes-${shape}.png`, fullPage: true });
    }
    await context.close();
  } finally {
    await example.service.stop();
  }
});
