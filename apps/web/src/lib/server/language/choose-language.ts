import type { Cookies } from '@sveltejs/kit';
import { isLanguage, type Language } from '#lib/language/language.ts';

/** What names the language of a request: the cookie of the user's choice, and Accept-Language. */
type LanguageSource = { cookies: Pick<Cookies, 'get'>; headers: Pick<Headers, 'get'> };

/** The language of a request. It is chosen when it is first needed: a redirect and most REST answers have no text. */
export function languageOf(locals: Pick<App.Locals, 'language'>, { cookies, headers }: LanguageSource): Language {
  locals.language ??= chooseLanguage(cookies, headers);
  return locals.language;
}

/** The language of a request: the user's choice, else the best of Accept-Language, else English. */
export function chooseLanguage(cookies: LanguageSource['cookies'], headers: LanguageSource['headers']): Language {
  const chosen = cookies.get('language');
  return isLanguage(chosen) ? chosen : bestOf(headers.get('accept-language') ?? '');
}

/** RFC 9110 §12.5.4: the highest weight wins, the first of equal ones. "de-AT" counts as "de". */
function bestOf(header: string): Language {
  if (header === '') return 'en';
  let best: { language: Language; weight: number } = { language: 'en', weight: 0 };
  for (const range of header.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const language = tag.split('-')[0];
    const weight = weightOf(parameters);
    if (isLanguage(language) && weight > best.weight) best = { language, weight };
  }
  return best.language;
}

function weightOf(parameters: string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  if (quality === undefined) return 1;
  const weight = Number(quality.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
