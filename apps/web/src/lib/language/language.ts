/** The languages of the pages. The first one is the default. */
export const languages = ['en', 'de'] as const;

export type Language = (typeof languages)[number];

/** Each language's name in itself, which its speakers look for. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' };

/** The locale by which dates, numbers and lists are written. */
const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

export function isLanguage(value: unknown): value is Language {
  return languages.some((language) => language === value);
}

let read: () => Language = () => {
  const lang = typeof document === 'undefined' ? null : document.documentElement.lang;
  return isLanguage(lang) ? lang : 'en';
};

/** Replaces the source of the language, for the server: it reads the request, browsers read `<html lang>`. */
export function readLanguageFrom(source: () => Language): void {
  read = source;
}

/** The language of the page or request. It stays the same for as long as a page is open: a change loads the page again. */
export function language(): Language {
  return read();
}

/** The locale of the language, such as 'en-GB'. */
export function locale(): string {
  return locales[language()];
}

/**
 * Returns a function that makes one value per language, at its first use:
 * `perLanguage((locale) => new Intl.ListFormat(locale))`.
 */
export function perLanguage<Value>(make: (locale: string) => Value): () => Value {
  const made = new Map<Language, Value>();
  return () => {
    const current = language();
    let value = made.get(current);
    if (value === undefined) {
      value = make(locales[current]);
      made.set(current, value);
    }
    return value;
  };
}
