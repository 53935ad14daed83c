import { readCookie } from '@gatehouse/api/http/cookies';
import type { RequestEvent } from '@sveltejs/kit';
import { languageOf } from './request-source.ts';

type Theme = 'light' | 'dark' | null;

/** The theme that the user chose; null follows the system. */
export function readTheme({ locals, cookies }: Pick<RequestEvent, 'locals' | 'cookies'>): Theme {
  const chosen = readCookie(locals.app, cookies, 'theme');
  return chosen === 'light' || chosen === 'dark' ? chosen : null;
}

/**
 * Writes the language and the theme into the page on the server, so that the other theme never
 * flashes and no script is needed. The page's scripts read the language from there.
 */
export function writeLanguageAndTheme(event: RequestEvent, html: string): string {
  const theme = readTheme(event);
  return html
    .replace('<html lang="en"', `<html lang="${languageOf(event)}"`)
    .replace('%gatehouse.theme%', theme === null ? '' : `data-theme="${theme}"`);
}
