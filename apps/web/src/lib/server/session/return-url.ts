import { toAppError } from '@gatehouse/api/errors';
import { consumeReturnUrl, storeReturnUrl } from '@gatehouse/api/sign-in/return-url';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { isNavigation } from '../guards/navigation.ts';
import { clearCookie, readCookie, writeCookie } from './cookies.ts';
import { returnTo } from './return-to.ts';

type Asked = Pick<RequestEvent, 'locals' | 'cookies' | 'url' | 'request'>;

/**
 * Keeps where somebody who comes to sign in wants to go afterwards. Whoever only looks keeps
 * nothing, and neither does a request that is no navigation or a client over its limit: any
 * foreign page can make a browser come here, so nobody behind that address may be kept from
 * signing in by it.
 */
export async function rememberReturnUrl({ locals, cookies, url, request }: Asked): Promise<void> {
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

/** Sends whoever came from a product back to it, once. */
export async function redirectToReturnUrl({ locals: { app }, cookies, request }: Asked): Promise<void> {
  const cookie = readCookie(app, cookies, 'return');
  if (cookie === null || request.method !== 'GET') return;

  const url = await consumeReturnUrl(app, cookie);
  clearCookie(app, cookies, 'return');
  if (url !== null) redirect(302, url, { external: true });
}
