import type { Cookies } from '@sveltejs/kit';

export type Theme = 'light' | 'dark' | null;

export function readTheme(cookies: Cookies): Theme {
  const chosen = cookies.get('theme');
  return chosen === 'light' || chosen === 'dark' ? chosen : null;
}

/** Writes the theme into the page on the server, so that the other theme never flashes and no script is needed. */
export function writeTheme(html: string, theme: Theme): string {
  return html.replace('%gatehouse.theme%', theme === null ? '' : `data-theme="${theme}"`);
}
