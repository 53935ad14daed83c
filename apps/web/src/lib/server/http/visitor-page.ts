import type { App } from '@gatehouse/api/app';
import type { RequestEvent } from '@sveltejs/kit';
import { hasPageScript } from '#lib/page-script/paths.ts';

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
export async function visitorPage(
  event: RequestEvent,
  theme: string | null,
  render: () => Promise<Response>,
): Promise<Response> {
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
