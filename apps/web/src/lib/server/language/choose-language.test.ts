import { describe, expect, it } from 'vitest';
import { chooseLanguage, languageOf } from './choose-language.ts';

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

  it('is chosen once, when it is first needed', () => {
    const locals: Pick<App.Locals, 'language'> = {};
    const source = { cookies: { get: () => undefined }, headers: new Headers({ 'accept-language': 'de' }) };
    expect(languageOf(locals, source)).toBe('de');
    source.headers.set('accept-language', 'en');
    expect(languageOf(locals, source)).toBe('de');
  });
});
