import type { Language } from '@gatehouse/languages/generated/languages';
import type { App } from '../app.ts';
import { type RequestCookies, readCookie } from './cookies.ts';

/** What names the language of a request: the cookie of the user's choice, and Accept-Language. */
type LanguageSource = { cookies: Pick<RequestCookies, 'get'>; headers: Pick<Headers, 'get'> };

/**
 * The language of a request, one of LOCALES: the user's choice, else the best of Accept-Language, else the first of
 * LOCALES.
 */
export function chooseLanguage(app: Pick<App, 'config'>, { cookies, headers }: LanguageSource): Language {
  const { languages } = app.config;
  const chosen = readCookie(app, cookies, 'language');
  return languages.find((language) => language === chosen) ?? bestOf(languages, headers.get('accept-language') ?? '');
}

/** RFC 9110 §12.5.4: the highest weight wins, the first of equal ones. "de-AT" counts as "de". */
function bestOf([first = 'en', ...others]: readonly Language[], header: string): Language {
  let best: { language: Language; weight: number } = { language: first, weight: 0 };
  for (const range of header.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const language = [first, ...others].find((each) => each === tag.split('-')[0]);
    const weight = weightOf(parameters);
    if (language !== undefined && weight > best.weight) best = { language, weight };
  }
  return best.language;
}

function weightOf(parameters: string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  if (quality === undefined) return 1;
  const weight = Number(quality.slice(2));
  return weight >= 0 && weight <= 1 ? weight : 0;
}
