import { toRefusal } from '@gatehouse/api/errors';
import { keepWayBack, takeWayBack } from '@gatehouse/api/sign-in/way-back';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { clearCookie, readCookie, writeCookie } from './cookies.ts';
import { isNavigation } from './navigation.ts';
import { returnTo } from './return-to.ts';

type Asked = Pick<RequestEvent, 'locals' | 'cookies' | 'url' | 'request'>;

/**
 * Keeps where somebody who comes to sign in wants to go afterwards. Whoever only looks keeps
 * nothing, and neither does a request that is no navigation or a client over its limit: any
 * foreign page can make a browser come here, so nobody behind that address may be kept from
 * signing in by it.
 */
export async function rememberWayBack({ locals, cookies, url, request }: Asked): Promise<void> {
  const { app, client } = locals;
  const wanted = returnTo(url);
  if (wanted === null || request.method !== 'GET' || !isNavigation(request.headers)) return;

  const replaced = readCookie(app, cookies, 'return');
  const kept = await keepWayBack(app, { wanted, replaced }, client).catch((thrown) => {
    if (toRefusal(thrown).code === 'TOO_MANY') return null;
    throw thrown;
  });
  if (kept !== null) writeCookie(app, cookies, 'return', kept);
}

/** Sends whoever came from a product back to it, once. */
export async function goWayBack({ locals: { app }, cookies, request }: Asked): Promise<void> {
  const cookie = readCookie(app, cookies, 'return');
  if (cookie === null || request.method !== 'GET') return;

  const url = await takeWayBack(app, cookie);
  clearCookie(app, cookies, 'return');
  if (url !== null) redirect(302, url, { external: true });
}
