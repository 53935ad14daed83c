import { AppError } from '@gatehouse/api/errors';
import { readKey } from '@gatehouse/api/keys/read-key';
import type { Principal } from '@gatehouse/api/sessions/principal';
import { readSession, readSharedSession } from '@gatehouse/api/sessions/session';
import type { Cookies } from '@sveltejs/kit';
import { readCookie, readSharedCookie } from './cookies.ts';

/** Routes that need no session. */
const sessionless = /^\/(auth|verify|webhooks|metrics)(\/|$)/;

/** The two endpoints that verify a session: the shared cookie is valid there only. */
const sharedCookiePaths = new Set(['/api/session', '/api/trpc/sessions.verify']);

/** The two that answer with the usage: the session's query reads it too. */
const usagePaths = new Set(['/api/subscription', '/api/trpc/subscription.read']);

type Asked = {
  locals: Pick<App.Locals, 'app' | 'accepted'>;
  cookies: Pick<Cookies, 'get'>;
  pathname: string;
};

/**
 * Resolves a request's principal: from the API key if it presents one, whatever its cookies; else
 * from the session cookie or, where a session is only verified, from the shared cookie.
 *
 * @throws AppError UNAUTHENTICATED for a key that is not valid.
 */
export async function resolvePrincipal({
  locals: { app, accepted },
  cookies,
  pathname,
}: Asked): Promise<Principal | null> {
  if (sessionless.test(pathname)) return null;

  const { presentedKey: key } = accepted;
  if (key !== null) {
    const holder = await readKey(app, key);
    if (holder === null) throw new AppError('UNAUTHENTICATED', 'This API key is unknown, expired or revoked.');
    return holder;
  }

  const id = readCookie(app, cookies, 'session');
  const principal = id === null ? null : await readSession(app, id, { usage: usagePaths.has(pathname) });
  if (principal !== null || !sharedCookiePaths.has(pathname)) return principal;

  const shared = readSharedCookie(app, cookies);
  return shared === null ? null : readSharedSession(app, shared);
}
