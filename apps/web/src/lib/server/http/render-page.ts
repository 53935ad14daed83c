import type { ServerResponse } from 'node:http';
import type { Cookies, RequestEvent } from '@sveltejs/kit';
import { languageOf } from '../language/choose-language.ts';

/** A page as it is sent. */
export type Page = { status: number; headers: Headers; body: Uint8Array };

/** The text of a page in two parts: up to the end of its html tag, and the rest. */
export type HtmlParts = [start: string, rest: string];

/** Returns the page with the status and headers of Kit's response, and with the text that Kit did not get. */
export function pageOf(response: Response, html: HtmlParts): Response | Page {
  const { headers, status } = response;
  if (!headers.has('x-sveltekit-page')) return response;
  if (!headers.has('etag')) throw new Error('A page cannot stream data: its load must await what it returns.');
  const body = encode(html);
  headers.delete('etag');
  headers.set('content-length', String(body.byteLength));
  return { status, headers, body };
}

/** Makes Node's response end with the page: adapter-node calls `end()` for the response without a body. */
export function sendPage({ status, headers, body }: Page, node: ServerResponse | undefined): Response {
  if (node === undefined) throw new Error('Kit was not called by the handler of writingPages.');

  const end = node.end.bind(node);
  node.end = () => end(body);
  return new Response(null, { status, headers });
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
export function writeLanguageAndTheme({ locals, cookies, request }: RequestEvent, html: string): HtmlParts {
  const language = languageOf(locals, { cookies, headers: request.headers });
  const theme = readTheme(cookies);
  // Both are in the html tag. A replacement in the whole page would copy all of it.
  const end = html.indexOf('>', html.indexOf('<html')) + 1;
  const start = html
    .slice(0, end)
    .replace('<html lang="en"', `<html lang="${language}"`)
    .replace('%gatehouse.theme%', theme === null ? '' : `data-theme="${theme}"`);
  return [start, html.slice(end)];
}

/** Encodes the parts without joining them first, which would copy the page once more. */
function encode([start, rest]: HtmlParts): Uint8Array {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(start) + Buffer.byteLength(rest));
  bytes.write(rest, bytes.write(start));
  return bytes;
}

/**
 * The pages that are the same for every visitor, by path, query, language and theme: at most two paths and two queries.
 * The pages show the configuration of the App, of which a process has one.
 */
const cachedPages = new Map<string, Page>();

/** Cookies that do not change these pages, or are part of the key (language and theme). */
const neutralCookie = /^(theme|language|(__Host-)?known)$/;

/**
 * Answers a visitor's GET of /login or /signup from memory. All visitors without a cookie get the same page in
 * their language and theme: with `csr = false` it has neither data nor a nonce. A request with any other cookie
 * or query (a session, an invitation, a notice, a return URL) is rendered.
 */
export async function visitorPage(
  event: RequestEvent,
  render: () => Promise<Response | Page>,
): Promise<Response | Page> {
  if (import.meta.env.DEV || !isForAllVisitors(event)) return render();

  const { url, locals, cookies, request } = event;
  const language = languageOf(locals, { cookies, headers: request.headers });
  const key = [url.pathname, url.search, language, readTheme(cookies)].join(' ');
  const cached = cachedPages.get(key);
  if (cached) return cached;

  const page = await render();
  if (page instanceof Response || page.status !== 200 || page.headers.has('set-cookie')) return page;
  cachedPages.set(key, page);
  return page;
}

function isForAllVisitors({ request, url, route, cookies, isDataRequest, locals }: RequestEvent): boolean {
  return (
    request.method === 'GET' &&
    !isDataRequest &&
    locals.principal === null &&
    route.id === url.pathname &&
    (url.search === '' || url.search === '?error=idp') &&
    cookies.getAll().every(({ name }) => neutralCookie.test(name))
  );
}
