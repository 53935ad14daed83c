import { describe, expect, it } from 'vitest';
import { parseConfig } from '../platform/config.ts';
import { chooseLanguage } from './choose-language.ts';

const choose = (acceptLanguage: string | null, cookie?: string, locales?: string) =>
  chooseLanguage(
    { config: parseConfig({ LOCALES: locales }) },
    {
      cookies: { get: () => cookie },
      headers: new Headers(acceptLanguage === null ? {} : { 'accept-language': acceptLanguage }),
    },
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

  it('is one of LOCALES, and the first of them where the browser names none', () => {
    expect(choose('fr')).toBe('en');
    expect(choose('fr', undefined, 'en,de,fr')).toBe('fr');
    expect(choose('en', 'fr', 'en,de,fr')).toBe('fr');
    expect(choose('en', 'fr', 'de')).toBe('de');
    expect(choose(null, undefined, 'fr,en')).toBe('fr');
  });
});
