import { everyLanguage } from '@gatehouse/languages/generated/every-language';
import { type Language, languages } from '@gatehouse/languages/generated/languages';
import type { Page } from '@playwright/test';
import { expectAccessibleTexts } from '../support/browser/accessibility.ts';
import { expectFitsWindow } from '../support/browser/page-width.ts';
import { newEmail } from '../support/people.ts';
import { expect, test } from '../support/service.ts';
import { unseenPages } from '../support/tour/routes.ts';
import { visitTranslatedPages } from '../support/tour/translated-pages.ts';

for (const language of ['de', 'fr'] as const) {
  test.describe(`a browser in ${languages[language].name}`, () => {
    test.use({ locale: languages[language].locale });

    test('gets its pages from sign-up to the operator console, and its mail', async ({ page, request, service }) => {
      const own = new Set(sentencesIn(language));
      const english = sentencesIn('en').filter((sentence) => !own.has(sentence));
      const seen = await visitTranslatedPages(language, { page, request, service }, (shown) =>
        expectTranslated(shown, language, english),
      );

      expect(unseenPages(seen)).toEqual([]);
    });
  });
}

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
  await page.locator('summary', { hasText: 'Deutsch' }).click();
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

/** Expects a page in its language, without English sentences, without findings of axe, and that fits the narrowest phone. */
async function expectTranslated(page: Page, language: Language, english: string[]): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('lang', language);
  const texts = await page.evaluate(() => {
    const named = [...document.querySelectorAll('[aria-label],[title],[placeholder]')].flatMap((element) =>
      ['aria-label', 'title', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
    );
    const body = document.body.cloneNode(true) as HTMLElement;
    // The descriptions of the API are English, and marked as such.
    for (const element of body.querySelectorAll('script, [lang=en]')) element.remove();
    return [document.title, body.textContent, ...named].join('\n').replace(/\s+/g, ' ');
  });
  const at = `${page.url()} in ${language}`;
  expect
    .soft(
      english.filter((sentence) => texts.includes(sentence)),
      at,
    )
    .toEqual([]);
  await expectAccessibleTexts(page, at);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await expectFitsWindow(page, `${at} at 320 px`);
  if (size) await page.setViewportSize(size);
}

/** The texts of two words and more of the pages, without placeholders. */
function sentencesIn(language: Language): string[] {
  return stringsOf(everyLanguage[language]).filter((text) => text.includes(' ') && !text.includes('{'));
}

function stringsOf(texts: unknown): string[] {
  if (typeof texts === 'string') return [texts.trim()];
  return typeof texts === 'object' && texts !== null ? Object.values(texts).flatMap(stringsOf) : [];
}
