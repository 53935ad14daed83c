import { toAppError } from '@gatehouse/api/errors';
import { consumeReturnUrl, storeReturnUrl } from '@gatehouse/api/sign-in/return-url';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { isNavigation } from '../guards/navigation.ts';
import { clearCookie, readCookie, writeCookie } from './cookies.ts';
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
  const kept = await storeReturnUrl(app, { wanted, replaced }, client).catch((thrown) => {
    if (toAppError(thrown).code === 'TOO_MANY') return null;
    throw thrown;
  });
  if (kept !== null) writeCookie(app, cookies, 'return', kept);
}

/** Redirects a user who came from a product to the return URL, once. */
export async function redirectToReturnUrl({ locals: { app }, cookies, request }: ReturnEvent): Promise<void> {
  const cookie = readCookie(app, cookies, 'return');
  if (cookie === null || request.method !== 'GET') return;

  const url = await consumeReturnUrl(app, cookie);
  clearCookie(app, cookies, 'return');
  if (url !== null) redirect(302, url, { external: true });
}
