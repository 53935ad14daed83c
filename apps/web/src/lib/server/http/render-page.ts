import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Cookies, RequestEvent } from '@sveltejs/kit';
import type { Handle } from '@sveltejs/kit/hooks';
import type { Language } from '#lib/language/language.ts';
import { hasPageScript } from '#lib/page-script/paths.ts';

export type Resolve = Parameters<Handle>[0]['resolve'];

/** The status in the log of a request whose client disconnected before its page was rendered, as nginx has it. */
const closedByClient = 499;

/** A page as it is sent. */
type Page = { status: number; headers: Headers; body: Uint8Array };

/** Answers a request by its route. A page has the request's language and theme in its first tag. */
export async function renderPage(event: RequestEvent, resolve: Resolve): Promise<Response> {
  const theme = readTheme(event.cookies);
  const answer = await visitorPage(event, theme, () => render(event, resolve, theme));
  return answer instanceof Response ? answer : writePage(event, answer);
}

/**
 * Renders a page in a turn of the server (docs/decisions/041): the database may answer many requests at once.
 * Kit would hash a page for an ETag that no request can match, copy it twice, and pass it on by a stream: a tenth of
 * the CPU of a page of 28 kB. So the page is kept from Kit, whose response is empty.
 */
async function render(event: RequestEvent, resolve: Resolve, theme: Theme): Promise<Response | Page> {
  const frame = { language: event.locals.language, theme };
  let body: Uint8Array | undefined;
  function transformPageChunk({ html }: { html: string }): string {
    if (import.meta.env.DEV) return writeFrame(html, frame).join('');
    body = encode(writeFrame(html, frame));
    return '';
  }

  await event.locals.nextTurn?.();
  const { method, signal } = event.request;
  // A form is processed in any case: its sender may have closed the tab.
  if (signal.aborted && (method === 'GET' || method === 'HEAD')) return new Response(null, { status: closedByClient });
  const response = await resolve(event, { transformPageChunk });
  const { headers, status } = response;
  if (body === undefined || !headers.has('x-sveltekit-page')) return response;
  if (!headers.has('etag')) throw new Error('A page cannot stream data: its load must await what it returns.');
  headers.delete('etag');
  headers.set('content-length', String(body.byteLength));
  return { status, headers, body };
}

/** What a page needs of the server: Node's response, and what resolves when the page may be rendered. */
type Exchange = { response: ServerResponse; nextTurn: () => Promise<void> };
type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;
type PagesHandler = (...args: [...Parameters<Handler>, nextTurn: Exchange['nextTurn']]) => unknown;
type WithExchange = IncomingMessage & { [exchange]?: Exchange };

const exchange = Symbol('exchange');

/** Makes the exchange of a request known to its page. adapter-node gives Kit the request alone. */
export function writingPages(handler: Handler): PagesHandler {
  return (request: WithExchange, response, next, nextTurn) => {
    request[exchange] = { response, nextTurn };
    return handler(request, response, next);
  };
}

export function exchangeOf({ platform }: RequestEvent): Exchange | undefined {
  return (platform?.req as WithExchange | undefined)?.[exchange];
}

/** Ends Node's response with the page. adapter-node ends a response that has no body by `end()`. */
function writePage(event: RequestEvent, { status, headers, body }: Page): Response {
  const node = exchangeOf(event)?.response;
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
function writeFrame(html: string, { language, theme }: { language: Language; theme: Theme }): [string, string] {
  // Both are in the first tag: each replacement in a whole page would copy all of it.
  const end = html.indexOf('>', html.indexOf('<html')) + 1;
  const start = html
    .slice(0, end)
    .replace('<html lang="en"', `<html lang="${language}"`)
    .replace('%gatehouse.theme%', theme === null ? '' : `data-theme="${theme}"`);
  return [start, html.slice(end)];
}

/** To join the two parts first would copy the page once more. */
function encode([start, rest]: [string, string]): Uint8Array {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(start) + Buffer.byteLength(rest));
  bytes.write(rest, bytes.write(start));
  return bytes;
}

/** A process has one App, whose configuration the pages show. At most two paths, two queries, and the languages and themes. */
const keptPages = new Map<string, Page>();

/** Cookies that change nothing on these pages, but for language and theme, which are part of the key. */
const neutralCookie = /^(theme|language|(__Host-)?known)$/;

/**
 * Answers a visitor's GET of /login or /signup from memory. All visitors without a cookie get the same page in
 * their language and theme: with `csr = false` it has neither data nor a nonce. A request with any other cookie
 * or query (a session, an invitation, a notice, a return URL) is rendered.
 */
async function visitorPage(
  event: RequestEvent,
  theme: Theme,
  render: () => Promise<Response | Page>,
): Promise<Response | Page> {
  if (import.meta.env.DEV || !isForAllVisitors(event)) return render();

  const key = [event.url.pathname, event.url.search, event.locals.language, theme].join(' ');
  const kept = keptPages.get(key);
  if (kept) return kept;

  const page = await render();
  if (page instanceof Response || page.status !== 200 || page.headers.has('set-cookie')) return page;
  keptPages.set(key, page);
  return page;
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
