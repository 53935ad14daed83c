import type { Context } from '@gatehouse/api/router/trpc';
import { tokenForBrowser } from '@gatehouse/api/sessions/known-browser';
import { endSession, startSession } from '@gatehouse/api/sessions/session';
import type { RequestEvent } from '@sveltejs/kit';
import {
  clearCookie,
  clearSharedCookie,
  type RequestCookies,
  readCookie,
  writeCookie,
  writeSharedCookie,
} from '../session/cookies.ts';

/** The router's context for a request. */
export function routerContext(event: Pick<RequestEvent, 'locals'>): Context {
  const { app, principal, requestId, client, session } = event.locals;
  return { app, principal, requestId, client, session };
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
