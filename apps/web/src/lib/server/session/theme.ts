import type { Cookies } from '@sveltejs/kit';
import type { Language } from '#lib/language/language.ts';

type Theme = 'light' | 'dark' | null;

/** The theme that the user chose; null follows the system. */
export function readTheme(cookies: Cookies): Theme {
  const chosen = cookies.get('theme');
  return chosen === 'light' || chosen === 'dark' ? chosen : null;
}

/**
 * Writes the language and the theme into the page on the server, so that the other theme never
 * flashes and no script is needed. The page's scripts read the language from there.
 */
export function writeFrame(html: string, { language, theme }: { language: Language; theme: Theme }): string {
  // Both stand in the first tag: each replacement in a whole page would copy all of it.
  const end = html.indexOf('>', html.indexOf('<html')) + 1;
  const start = html
    .slice(0, end)
    .replace('<html lang="en"', `<html lang="${language}"`)
    .replace('%gatehouse.theme%', theme === null ? '' : `data-theme="${theme}"`);
  return start + html.slice(end);
}
