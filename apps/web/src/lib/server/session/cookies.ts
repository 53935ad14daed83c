import type { App } from '@gatehouse/api/app';
import type { Config } from '@gatehouse/api/config';
import type { Context } from '@gatehouse/api/router/trpc';
import { knownBrowserDays, tokenForBrowser } from '@gatehouse/api/sessions/known-browser';
import { endSession, longestSessionDays, startSession } from '@gatehouse/api/sessions/session';
import type { Cookies, RequestEvent } from '@sveltejs/kit';
import { clearSharedCookie, writeSharedCookie } from './shared-cookie.ts';

/** The cookies of a request and of its answer, kept by Kit for pages. */
type RequestCookies = Pick<Cookies, 'get' | 'set' | 'delete'>;

type Kind = 'session' | 'attempt' | 'signup' | 'return' | 'invitation' | 'known' | 'notice';

const lifetimeSeconds: Record<Kind, number> = {
  session: longestSessionDays * 86_400,
  attempt: 600,
  signup: 7 * 86_400,
  return: 3600,
  invitation: 7 * 86_400,
  known: knownBrowserDays * 86_400,
  notice: 300,
};

/** The scheme of PUBLIC_BASE_URL, never the request's, decides on the cookies' names and Secure. */
function isSecure({ publicBaseUrl }: Config): boolean {
  return publicBaseUrl === null || publicBaseUrl.startsWith('https:');
}

/** The __Host- prefix pins a cookie to this host, over https (RFC 6265bis §4.1.3.2). */
function nameOf(app: App, kind: Kind): string {
  return isSecure(app.config) ? `__Host-${kind}` : kind;
}

/** The value of a cookie; null if the request has none or an empty one. */
export function readCookie(app: App, cookies: Pick<Cookies, 'get'>, kind: Kind): string | null {
  return cookies.get(nameOf(app, kind)) || null;
}

/** Sets a cookie with the attributes and the lifetime of its kind. */
export function writeCookie(app: App, cookies: RequestCookies, kind: Kind, value: string): void {
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(app.config) } as const;
  cookies.set(nameOf(app, kind), value, { ...attributes, maxAge: lifetimeSeconds[kind] });
}

export function clearCookie(app: App, cookies: RequestCookies, kind: Kind): void {
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(app.config) } as const;
  cookies.delete(nameOf(app, kind), attributes);
}

/** Starts and ends sessions for the router, which never sees a session's id. */
export function sessionActions({
  locals,
  cookies,
}: Pick<RequestEvent, 'locals'> & { cookies: RequestCookies }): Context['session'] {
  const { app, client } = locals;

  async function end() {
    const old = readCookie(app, cookies, 'session');
    if (old !== null) await endSession(app, old);
  }

  async function write(id: string) {
    writeCookie(app, cookies, 'session', id);
    await writeSharedCookie(app, cookies, id);
  }

  return {
    async start(holder) {
      const browserToken = await tokenForBrowser(app, readCookie(app, cookies, 'known'));
      const id = await startSession(app, { ...holder, browserToken, client });
      await end();
      await write(id);
      writeCookie(app, cookies, 'known', browserToken);
    },
    async end() {
      await end();
      clearCookie(app, cookies, 'session');
      clearSharedCookie(app, cookies);
    },
    renew: write,
    rememberSignUp: (browserToken) => writeCookie(app, cookies, 'signup', browserToken),
    browserToken: () => readCookie(app, cookies, 'signup'),
    rememberAttempt: (attempt) => writeCookie(app, cookies, 'attempt', attempt),
  };
}
