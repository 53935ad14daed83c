import { AsyncLocalStorage } from 'node:async_hooks';
import type { Cookies } from '@sveltejs/kit';
import { isLanguage, type Language, readLanguageFrom } from '#lib/language/language.ts';

const current = new AsyncLocalStorage<Language>();
readLanguageFrom(() => current.getStore() ?? 'en');

/** Runs `run` with the language of a request. All texts and formats within it are in this language. */
export function inLanguage<Result>(chosen: Language, run: () => Result): Result {
  return current.run(chosen, run);
}

/** The language of a request: the user's choice, else the best of Accept-Language, else English. */
export function chooseLanguage(cookies: Pick<Cookies, 'get'>, headers: Pick<Headers, 'get'>): Language {
  const chosen = cookies.get('language');
  return isLanguage(chosen) ? chosen : bestOf(headers.get('accept-language') ?? '');
}

/** RFC 9110 §12.5.4: the highest weight wins, the first of equal ones. "de-AT" counts as "de". */
function bestOf(header: string): Language {
  if (header === '') return 'en';
  let best: { language: Language; weight: number } = { language: 'en', weight: 0 };
  for (const range of header.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const named = tag.split('-')[0];
    const weight = weightOf(parameters);
    if (isLanguage(named) && weight > best.weight) best = { language: named, weight };
  }
  return best.language;
}

function weightOf(parameters: string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const weight = Number(given.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
