import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { App } from '@gatehouse/api/app';
import type { Principal } from '@gatehouse/api/auth/principal';
import { presentedKey, readKey } from '@gatehouse/api/auth/read-key';
import { tokenForBrowser } from '@gatehouse/api/auth/sessions/known-browser';
import { deleteSession, readSession, readSharedSession, startSession } from '@gatehouse/api/auth/sessions/session';
import { AppError } from '@gatehouse/api/platform/errors';
import type { Client, KeyedClient, Requester } from '@gatehouse/api/platform/security/client';
import { createCaller } from '@gatehouse/api/router/root';
import type { Context } from '@gatehouse/api/router/trpc';
import { languageOf } from '../language/choose-language.ts';
import {
  clearCookie,
  clearSharedCookie,
  cookieNamed,
  type RequestCookies,
  readCookie,
  readSharedCookie,
  writeCookie,
  writeSharedCookie,
} from '../session/cookies.ts';

/** What a context needs of a request. */
export type RequestSource = {
  method: string;
  /** As in a URL: percent-encoded. */
  pathname: string;
  /** A header by its name in lower case; null if the request has none. */
  headers: Pick<Headers, 'get'>;
  cookies: RequestCookies;
  client: KeyedClient;
  /** Aborted if the client disconnects before the answer. */
  signal: AbortSignal;
  /** Node's request, which knows whether its body has arrived. The development server gives Kit none. */
  message?: Pick<IncomingMessage, 'complete'> | undefined;
};

/**
 * Resolves the principal of a request that the guard accepted, and adds to its locals what handlers work with: the
 * client, the principal, the actions on the session, and the router called for the principal.
 *
 * @throws AppError UNAUTHENTICATED for an API key that is not valid.
 */
export async function openContext(locals: App.Locals, request: RequestSource): Promise<void> {
  locals.source = request;
  locals.hasWholeBody = request.message?.complete === true;
  locals.client = new RequestClient(locals, request);
  locals.principal = await resolvePrincipal(locals, request);
  locals.session = sessionActions(locals, request.cookies);
  locals.api = createCaller(routerContext(locals), { signal: request.signal });
}

/**
 * Resolves the principal of a request again, whose context is open. For a request whose body arrives, or whose answer
 * is read, long after its headers: the user or key may have lost the authority since.
 *
 * @throws AppError UNAUTHENTICATED for an API key that is not valid any more.
 */
export async function reopenContext(locals: App.Locals): Promise<void> {
  const hadPrincipal = locals.principal !== null;
  await openContext(locals, locals.source);
  if (hadPrincipal && locals.principal === null) locals.sessionEnded = true;
}

/**
 * Reads the body of a request whose context is open, and resolves the principal again if the body had not arrived
 * before the principal was resolved. Everything that reads a body for a principal reads it by this function
 * (docs/decisions/049).
 *
 * @throws AppError UNAUTHENTICATED for an API key that is not valid any more; and what `read` throws.
 */
export async function renewPrincipalAfter<Body>(locals: App.Locals, read: () => Promise<Body>): Promise<Body> {
  try {
    return await read();
  } finally {
    if (!locals.hasWholeBody) await reopenContext(locals);
  }
}

/** Whether the API key or the session of a request was valid recently in this process. Reads no database. */
export function hasRecentToken(app: App, { authorization, cookie }: IncomingHttpHeaders): boolean {
  const cookies = { get: (name: string) => cookieNamed(name, cookie) };
  const tokens = [presentedKey(authorization ?? null), readCookie(app, cookies, 'session')];
  return [...tokens, readSharedCookie(app, cookies)].some((token) => token !== null && app.recentTokens.has(token));
}

/** Returns the router's context of a request whose context is open. */
export function routerContext({ app, principal, requestId, client, session, nextTurn }: App.Locals): Context {
  return { app, principal, requestId, client, session, nextTurn };
}

/**
 * The address, browser and language from which a request comes. A class, because V8 keeps the properties of an object
 * literal with a getter in a dictionary: to make one takes ten times as long, and each read of it is slow.
 */
class RequestClient implements Client {
  readonly address: string;
  readonly requester: Requester | undefined;
  readonly userAgent: string | null;
  readonly knownBrowser: string | null;
  readonly #locals: App.Locals;
  readonly #source: RequestSource;

  constructor(locals: App.Locals, source: RequestSource) {
    this.address = source.client.address;
    this.requester = source.client.requester;
    this.userAgent = source.headers.get('user-agent');
    this.knownBrowser = readCookie(locals.app, source.cookies, 'known');
    this.#locals = locals;
    this.#source = source;
  }

  /** Chosen on access, because only e-mail needs it and most requests send none. */
  get language() {
    return languageOf(this.#locals, this.#source);
  }
}

/** Routes that need no session. */
const sessionless = /^\/(auth|verify|webhooks|metrics)(\/|$)/;

/** The two endpoints that verify a session: the shared cookie is valid there only. */
const sharedCookiePaths = new Set(['/api/session', '/api/trpc/sessions.verify']);

/** The two endpoints that return the usage. There the query that reads the session reads the usage too. */
const usagePaths = new Set(['/api/subscription', '/api/trpc/subscription.read']);

/**
 * Resolves a request's principal: from the API key if it presents one, whatever its cookies; else
 * from the session cookie or, where a session is only verified, from the shared cookie.
 */
async function resolvePrincipal(
  { app, accepted }: Pick<App.Locals, 'app' | 'accepted'>,
  { method, pathname, cookies }: RequestSource,
): Promise<Principal | null> {
  if (sessionless.test(pathname)) return null;

  // HEAD requests have no side effects.
  const readOnly = method === 'HEAD';
  const { presentedKey: key } = accepted;
  if (key !== null) {
    const keyPrincipal = await readKey(app, key, { readOnly });
    if (keyPrincipal === null) throw new AppError('UNAUTHENTICATED', 'This API key is unknown, expired or revoked.');
    return keyPrincipal;
  }

  const token = readCookie(app, cookies, 'session');
  const principal =
    token === null ? null : await readSession(app, token, { usage: usagePaths.has(pathname), readOnly });
  if (principal !== null || !sharedCookiePaths.has(pathname)) return principal;

  const shared = readSharedCookie(app, cookies);
  return shared === null ? null : readSharedSession(app, shared, { readOnly });
}

/** Starts and ends sessions for the router, which never sees a session's token. */
export function sessionActions({ app, client }: App.Locals, cookies: RequestCookies): Context['session'] {
  async function end() {
    const old = readCookie(app, cookies, 'session');
    if (old !== null) await deleteSession(app, old);
  }

  async function write(token: string) {
    writeCookie(app, cookies, 'session', token);
    await writeSharedCookie(app, cookies, token);
  }

  return {
    async start(session) {
      const browser = await tokenForBrowser(app, client.knownBrowser ?? null);
      const token = await startSession(app, { ...session, browserHash: browser.hash, client });
      await end();
      await write(token);
      writeCookie(app, cookies, 'known', browser.token);
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
