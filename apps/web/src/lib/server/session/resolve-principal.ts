import type { Principal } from '@gatehouse/api/sessions/principal';
import { readSession, readSharedSession } from '@gatehouse/api/sessions/session';
import type { RequestEvent } from '@sveltejs/kit';
import { readCookie } from './cookies.ts';
import { readSharedCookie } from './shared-cookie.ts';

/** Routes that run before any session exists, or are none of its business. */
const sessionless = /^\/(auth|verify|webhooks|readyz|metrics)(\/|$)/;

/** The two doors of one answer, who it is: all that the shared cookie opens. */
const askable = new Set(['/api/session', '/api/trpc/sessions.verify']);

/** Whose session a request carries: by its own cookie, or by the shared one where somebody only asks. */
export async function resolvePrincipal({
  locals: { app },
  cookies,
  url: { pathname },
}: Pick<RequestEvent, 'locals' | 'cookies' | 'url'>): Promise<Principal | null> {
  if (sessionless.test(pathname)) return null;

  const id = readCookie(app, cookies, 'session');
  const principal = id === null ? null : await readSession(app, id);
  if (principal !== null || !askable.has(pathname)) return principal;

  const shared = readSharedCookie(app, cookies);
  return shared === null ? null : readSharedSession(app, shared);
}
