import type { RequestEvent } from '@sveltejs/kit';
import { readTheme } from './page-html.ts';
import { languageOf } from './request-source.ts';

/** The routes of the pages that may be the same for every visitor. */
const visitorRoutes = ['/login', '/signup'];

/** Cookies that do not change these pages, or are part of the key (language and theme). */
const neutralCookie = /^(__Host-)?(theme|language|known|challenge)$/;

/** A page as it was rendered for the first visitor. */
type CachedPage = { headers: [name: string, value: string][]; body: ArrayBuffer };

/**
 * The pages by path, query, language and theme: at most two paths and two queries. They show the configuration of the
 * App, of which a process has one.
 */
const cachedPages = new Map<string, CachedPage>();

/**
 * Answers a visitor's GET of /login or /signup from memory, which makes it five times as fast. All visitors without a
 * cookie get the same page in their language and theme: with `csr = false` it has neither data nor a nonce. A request
 * with any other cookie or query (a session, an invitation, a notice, a return URL) is rendered.
 */
export async function visitorPage(event: RequestEvent, render: () => Promise<Response>): Promise<Response> {
  if (import.meta.env.DEV || !isForAllVisitors(event)) return render();

  const { url } = event;
  const key = [url.pathname, url.search, languageOf(event), readTheme(event)].join(' ');
  const cached = cachedPages.get(key);
  if (cached !== undefined) return new Response(cached.body, { headers: cached.headers });

  const response = await render();
  if (response.status !== 200 || response.headers.has('set-cookie')) return response;
  const page = { headers: [...response.headers], body: await response.arrayBuffer() };
  cachedPages.set(key, page);
  return new Response(page.body, { headers: page.headers });
}

function isForAllVisitors({ request, url, route, cookies, isDataRequest, locals }: RequestEvent): boolean {
  return (
    request.method === 'GET' &&
    !isDataRequest &&
    locals.principal === null &&
    visitorRoutes.includes(url.pathname) &&
    route.id === url.pathname &&
    (url.search === '' || url.search === '?error=idp') &&
    cookies.getAll().every(({ name }) => neutralCookie.test(name))
  );
}
