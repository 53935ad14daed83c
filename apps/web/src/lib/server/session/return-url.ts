import {
  allowedReturnUrl,
  consumeReturnUrl,
  mayReturn,
  storeReturnPath,
  storeReturnUrl,
} from '@gatehouse/api/auth/sign-in/return-url';
import { clearCookie, readCookie, writeCookie } from '@gatehouse/api/http/cookies';
import { isNavigation, isPrefetch } from '@gatehouse/api/http/request-guard';
import { toAppError } from '@gatehouse/api/platform/errors';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { texts } from '#lib/language/texts.ts';
import { notify } from './notice.ts';
import { returnTo } from './return-to.ts';

type ReturnEvent = Pick<RequestEvent, 'locals' | 'cookies' | 'url' | 'request'>;

/**
 * Stores the page to return to after sign-in. HEAD requests and requests that are not navigations
 * store nothing. A client over its limit stores nothing either, and gets no error: any foreign page
 * can make a browser send this request, and must not keep the users behind that address from signing in.
 */
export async function rememberReturnUrl({ locals, cookies, url, request }: ReturnEvent): Promise<void> {
  const { app, client } = locals;
  const wanted = returnTo(url);
  if (wanted === null || request.method !== 'GET' || !isNavigation(request.headers)) return;

  const replaced = readCookie(app, cookies, 'return');
  const kept = await unlessLimited(storeReturnUrl(app, { wanted, replaced }, client));
  if (kept !== null) writeCookie(app, cookies, 'return', kept);
}

/**
 * Stores the page that a user asked for with a session that has ended, or whose form they sent after a sign-out in
 * another tab, so that sign-in leads there, and makes /login say that the user was signed out. This happens only for pages that need a session, and
 * only for a navigation of the user's own tab. The page of a form is stored without the name of its action.
 */
export async function rememberPageOfEndedSession(event: RequestEvent): Promise<void> {
  const { locals, url, request, route, isDataRequest } = event;
  const isLoad = !isDataRequest && request.method !== 'HEAD' && isNavigation(request.headers);
  if (!route.id?.startsWith('/(app)') || !isLoad) return;

  const path = request.method === 'GET' ? url.pathname + url.search : url.pathname;
  if (!(await rememberReturnPath(event, path))) return;
  notify(event, { text: texts('notice').signedOut, tone: 'warn', inline: true });
  // The page of a form that is sent without a script loads its layouts too, before it redirects.
  locals.noticeIsForNextPage = true;
}

/** Stores a path of this service, to which / leads once. Returns whether it did: a client over its limit stores nothing. */
export async function rememberReturnPath(
  { locals, cookies }: Pick<RequestEvent, 'locals' | 'cookies'>,
  path: string,
): Promise<boolean> {
  const { app, client } = locals;
  const replaced = readCookie(app, cookies, 'return');
  const kept = await unlessLimited(storeReturnPath(app, { path, replaced }, client));
  if (kept !== null) writeCookie(app, cookies, 'return', kept);
  return kept !== null;
}

/** Returns the page of a product that a link of it asks for by return_to; null without one that is allowed. */
export function requestedReturnUrl({ locals: { app }, url }: Pick<RequestEvent, 'locals' | 'url'>): string | null {
  const wanted = returnTo(url);
  return wanted && allowedReturnUrl(app.config, wanted);
}

/** Resolves to null in place of the error for a client over its limit. */
async function unlessLimited(stored: Promise<string | null>): Promise<string | null> {
  try {
    return await stored;
  } catch (thrown) {
    if (toAppError(thrown).code === 'TOO_MANY') return null;
    throw thrown;
  }
}

/**
 * Redirects a user without an organisation to the page of ours that they asked for, once. The URL of a product stays: it
 * would send them back.
 */
export async function redirectToReturnPath({ locals: { app }, cookies, request }: ReturnEvent): Promise<void> {
  const cookie = readCookie(app, cookies, 'return');
  if (cookie === null || request.method !== 'GET' || isPrefetch(request.headers)) return;

  const path = await consumeReturnUrl(app, cookie, { pathOnly: true });
  if (path === null) return;
  clearCookie(app, cookies, 'return');
  redirect(302, path);
}

/**
 * Redirects a user to the return URL, once: a product's page, or the page where the session had ended. A prefetch does
 * not consume it.
 *
 * @returns null without one; else the URL of a product that has just sent this session back, which would be a loop.
 */
export async function redirectToReturnUrl(
  { locals: { app }, cookies, request }: ReturnEvent,
  { sessionId }: { sessionId: string },
): Promise<string | null> {
  const cookie = readCookie(app, cookies, 'return');
  if (cookie === null || request.method !== 'GET' || isPrefetch(request.headers)) return null;

  const url = await consumeReturnUrl(app, cookie);
  clearCookie(app, cookies, 'return');
  if (url === null) return null;
  if (url.startsWith('/')) redirect(302, url);
  if (await mayReturn(app, sessionId, url)) redirect(302, url, { external: true });
  return url;
}
