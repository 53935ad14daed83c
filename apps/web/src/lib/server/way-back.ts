import { keepWayBack, takeWayBack } from '@gatehouse/api/sign-in/way-back';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { clearCookie, readCookie, writeCookie } from './cookies.ts';
import { returnTo } from './return-to.ts';

type Asked = Pick<RequestEvent, 'locals' | 'cookies' | 'url' | 'request'>;

/** Keeps where somebody who comes to sign in wants to go afterwards. Whoever only looks keeps nothing. */
export async function rememberWayBack({ locals, cookies, url, request }: Asked): Promise<void> {
  const { app, client } = locals;
  const wanted = returnTo(url);
  if (wanted === null || request.method !== 'GET') return;

  const replaced = readCookie(app, cookies, 'return');
  const kept = await keepWayBack(app, { wanted, replaced }, client);
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
