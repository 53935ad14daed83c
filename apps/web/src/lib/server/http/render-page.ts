import type { App } from '@gatehouse/api/app';
import type { Cookies, RequestEvent } from '@sveltejs/kit';
import type { Handle } from '@sveltejs/kit/hooks';
import type { Language } from '#lib/language/language.ts';
import { hasPageScript } from '#lib/page-script/paths.ts';

type Resolve = Parameters<Handle>[0]['resolve'];

/** Answers a request by its route. A page has the request's language and theme in its first tag. */
export function renderPage(event: RequestEvent, resolve: Resolve): Promise<Response> {
  const { language } = event.locals;
  const theme = readTheme(event.cookies);
  const transformPageChunk = ({ html }: { html: string }) => writeFrame(html, { language, theme });
  return visitorPage(event, theme, async () => resolve(event, { transformPageChunk }));
}

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
function writeFrame(html: string, { language, theme }: { language: Language; theme: Theme }): string {
  // Both stand in the first tag: each replacement in a whole page would copy all of it.
  const end = html.indexOf('>', html.indexOf('<html')) + 1;
  const start = html
    .slice(0, end)
    .replace('<html lang="en"', `<html lang="${language}"`)
    .replace('%gatehouse.theme%', theme === null ? '' : `data-theme="${theme}"`);
  return start + html.slice(end);
}

type Kept = { body: Uint8Array<ArrayBuffer>; headers: [string, string][] };

/** By the App, because a page shows its configuration. At most two paths, two queries, and the languages and themes. */
const keptPages = new WeakMap<App, Map<string, Kept>>();

/** Cookies that change nothing on these pages, but for language and theme, which are part of the key. */
const neutralCookie = /^(theme|language|(__Host-)?known)$/;

/**
 * Answers a visitor's GET of /login or /signup from memory. All visitors without a cookie get the same page in
 * their language and theme: with `csr = false` it has neither data nor a nonce. A request with any other cookie
 * or query (a session, an invitation, a notice, a return URL) is rendered.
 */
async function visitorPage(event: RequestEvent, theme: Theme, render: () => Promise<Response>): Promise<Response> {
  if (import.meta.env.DEV || !isForAllVisitors(event)) return render();

  const { app, language } = event.locals;
  const pages = keptPages.get(app) ?? new Map<string, Kept>();
  keptPages.set(app, pages);
  const key = [event.url.pathname, event.url.search, language, theme].join(' ');
  const kept = pages.get(key);
  if (kept) return new Response(kept.body, { headers: kept.headers });

  const response = await render();
  const isPage = response.status === 200 && response.headers.get('content-type')?.startsWith('text/html') === true;
  if (!isPage || response.headers.has('set-cookie')) return response;
  const page = { body: new Uint8Array(await response.arrayBuffer()), headers: [...response.headers] };
  pages.set(key, page);
  return new Response(page.body, { headers: page.headers });
}

function isForAllVisitors({ request, url, route, cookies, isDataRequest, locals }: RequestEvent): boolean {
  return (
    request.method === 'GET' &&
    !isDataRequest &&
    locals.principal === null &&
    hasPageScript(url.pathname) &&
    route.id === url.pathname &&
    (url.search === '' || url.search === '?error=idp') &&
    cookies.getAll().every(({ name }) => neutralCookie.test(name))
  );
}
