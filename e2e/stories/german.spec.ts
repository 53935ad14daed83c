import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expectAccessibleTexts } from '../support/browser/accessibility.ts';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { newEmail } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { visitGermanPages } from '../support/tour/german-pages.ts';
import { unseenPages } from '../support/tour/routes.ts';

test.use({ locale: 'de-DE' });

const messages = fileURLToPath(new URL('../../apps/web/src/lib/messages', import.meta.url));
const english = sentencesOf('en').filter((sentence) => !sentencesOf('de').includes(sentence));

test('a German browser gets German pages from sign-up to the operator console, and German mail', async ({
  page,
  request,
  service,
}) => {
  const seen = await visitGermanPages({ page, request, service }, expectGerman);

  expect(unseenPages(seen)).toEqual([]);
});

test('pages that are rendered at once are each in the language of their request', async ({ request }) => {
  const titles = { de: 'Anmelden', en: 'Sign in' };
  const readTitle = async (language: 'de' | 'en') => {
    // A page with a query is rendered for each request.
    const page = await request.get('/login?rendered', { headers: { 'accept-language': language } });
    const text = await page.text();
    expect(text).toContain(`<html lang="${language}"`);
    expect(text).toContain(`<title>${titles[language]}`);
    expect(text).not.toContain(titles[language === 'de' ? 'en' : 'de']);
  };
  await Promise.all(Array.from({ length: 20 }, (_, at) => readTitle(at % 2 === 0 ? 'de' : 'en')));
});

test('the footer changes the language of all pages, without JavaScript', async ({ browser, service }) => {
  const context = await browser.newContext({ baseURL: service.baseUrl, locale: 'de-DE', javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto('/login');
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await page.getByRole('button', { name: 'English' }).click();
  await expect(page).toHaveURL('/login');
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await page.goto('/signup');
  await expect(page.getByRole('button', { name: 'Create organisation' })).toBeVisible();
  await context.close();
});

test('without Accept-Language a page is English, and the API is English in every language', async ({
  request,
  service,
}) => {
  expect(await (await fetch(`${service.baseUrl}/login`, { headers: { accept: 'text/html' } })).text()).toContain(
    '<html lang="en"',
  );
  const answer = await request.post('/api/login', {
    data: { email: newEmail(), password: 'wrong' },
    headers: { 'accept-language': 'de' },
  });
  expect(await answer.json()).toMatchObject({ error: 'E-mail or password is wrong.' });
});

/** Expects a page in German without English sentences and without findings of axe. */
async function expectGerman(page: Page): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  const texts = await page.evaluate(() => {
    const named = [...document.querySelectorAll('[aria-label],[title],[placeholder]')].flatMap((element) =>
      ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
    );
    const body = document.body.cloneNode(true) as HTMLElement;
    // The descriptions of the API are English, and marked as such.
    for (const element of body.querySelectorAll('script, [lang=en]')) element.remove();
    return [document.title, body.textContent, ...named].join('\n').replace(/\s+/g, ' ');
  });
  expect
    .soft(
      english.filter((sentence) => texts.includes(sentence)),
      page.url(),
    )
    .toEqual([]);
  await expectAccessibleTexts(page, `${page.url()} in German`);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await expectFitsWindow(page, `${page.url()} in German at 320 px`);
  if (size) await page.setViewportSize(size);
}

/** The texts of two words and more in the message files, that are written in one line without a value. */
function sentencesOf(language: 'en' | 'de'): string[] {
  const files = fs.readdirSync(messages, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const source = fs.readFileSync(path.join(messages, file), 'utf8');
    return source
      .split(/^ {2}(?=(?:en|de): \{)/m)
      .filter((part) => part.startsWith(`${language}: {`))
      .flatMap((part) => [...part.matchAll(/'([^'\n]+ [^'\n]+)'/g)].map(([, text = '']) => text.trim()))
      .filter((text) => text.includes(' ') && !text.includes('{'));
  });
}
