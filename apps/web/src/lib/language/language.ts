import { type Language, languages } from '@gatehouse/languages/generated/languages';

export type { Language };

/** Whether there are texts in this language. Which ones are offered says LOCALES. */
function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(languages, value);
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
  return languages[language()].locale;
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
      value = make(languages[current].locale);
      made.set(current, value);
    }
    return value;
  };
}
