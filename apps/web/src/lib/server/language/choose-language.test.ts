import { describe, expect, it } from 'vitest';
import { formatDate } from '#lib/format/dates.ts';
import { language } from '#lib/language/language.ts';
import { chooseLanguage, inLanguage } from './choose-language.ts';

const choose = (acceptLanguage: string | null, cookie?: string) =>
  chooseLanguage(
    { get: () => cookie },
    new Headers(acceptLanguage === null ? {} : { 'accept-language': acceptLanguage }),
  );

describe('the language of a request', () => {
  it.each([
    [null, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['DE-ch', 'de'],
    ['en-US,en;q=0.9,de;q=0.8', 'en'],
    ['en;q=0.5, de;q=0.7', 'de'],
    ['fr, de;q=0.3', 'de'],
    ['fr', 'en'],
    ['*', 'en'],
    ['de;q=0', 'en'],
    ['de;q=abc', 'en'],
    ['de;q=9', 'en'],
    ['den', 'en'],
    [';;,,q=;', 'en'],
  ])('follows Accept-Language: %s → %s', (header, expected) => {
    expect(choose(header)).toBe(expected);
  });

  it('is the one that the user chose, if any', () => {
    expect(choose('de', 'en')).toBe('en');
    expect(choose('en', 'de')).toBe('de');
    expect(choose('de', 'xx')).toBe('de');
  });

  it('does not change during a request, while parallel requests have another', async () => {
    const answer = async (pause: number) => {
      await new Promise((resolve) => setTimeout(resolve, pause));
      return [language(), formatDate('2026-12-03T00:00:00Z')];
    };
    const answers = await Promise.all([
      inLanguage('de', () => answer(3)),
      inLanguage('en', () => answer(1)),
      answer(2),
    ]);
    expect(answers).toEqual([
      ['de', '3. Dezember 2026'],
      ['en', '3 December 2026'],
      ['en', '3 December 2026'],
    ]);
  });
});
