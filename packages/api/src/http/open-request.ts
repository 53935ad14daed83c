import type { App } from '../app.ts';
import { limitKey } from '../auth/limit-key.ts';
import { readKey } from '../auth/read-key.ts';
import {
  deleteSession,
  deleteSharedSession,
  readPresentedSession,
  readSharedSession,
} from '../auth/sessions/session.ts';
import { type Begun, openSession } from '../auth/sign-in/open-session.ts';
import { AppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { hashToken } from '../platform/security/token.ts';
import { createCaller } from '../router/root.ts';
import type { Context } from '../router/trpc.ts';
import {
  clearCookie,
  clearSharedCookie,
  type RequestCookies,
  readCookie,
  readSharedCookie,
  writeCookie,
  writeSharedCookie,
} from './cookies.ts';
import type { RequestSource, RequestState } from './request.ts';
import { guardHead, guardOrigin, isNavigation, maxBodyBytesOf, presentedKey } from './request-guard.ts';
import { watchProxies } from './watch-proxies.ts';

/** A request as it begins. */
export function newRequestState(app: App): RequestState {
  const state: Partial<RequestState> = { app, requestId: crypto.randomUUID(), body: Buffer.alloc(0) };
  Object.assign(state, { principal: null, stepPending: false });
  // `authenticate` adds the rest. A request that is refused before has no handler that would read it.
  return state as RequestState;
}

/** The methods whose requests have no body that is read. */
const bodiless = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Takes a request from its head to its principal: request guard, body, same-origin rule, principal. The body is read
 * before the principal is resolved, because it may arrive long after the head: so authority is judged once, right before
 * the handler. `methods` are those that the path allows; null for any.
 *
 * @throws AppError NOT_FOUND, METHOD_NOT_ALLOWED, TOO_LARGE, FOREIGN_ORIGIN or UNAUTHENTICATED (an API key that is not
 *   valid); checked in this order. BUSY while too many bodies are being read.
 */
export async function openRequest(state: RequestState, source: RequestSource, methods: string[] | null): Promise<void> {
  const { config } = state.app;
  watchProxies(state.app, source.headers);
  guardHead(source, methods, config);
  if (!bodiless.has(source.method)) state.body = await source.readBytes(maxBodyBytesOf(source.pathname));
  // No page of another site can send a key, and cookies do not authenticate a request with a key.
  if (presentedKey(source.headers.get('authorization')) === null) guardOrigin(source, config);
  await authenticate(state, source);
}

/**
 * Resolves the principal of a request, and adds to its state what handlers work with: the client, the principal, the
 * actions on the session, and the router called for the principal.
 *
 * @throws AppError UNAUTHENTICATED for an API key that is not valid; TOO_MANY above 100 requests a second with one.
 */
export async function authenticate(state: RequestState, source: RequestSource): Promise<void> {
  state.client = new RequestClient(state.app, source);
  Object.assign(state, await resolvePrincipal(state.app, source));
  state.session = sessionActions(state, source.cookies);
  state.api = createCaller(routerContext(state), { signal: source.signal });
}

/** Returns the router's context of an authenticated request. */
export function routerContext({ app, principal, stepPending, requestId, client, session }: RequestState): Context {
  return { app, principal, stepPending, requestId, client, session };
}

/**
 * The address, browser and language from which a request comes. A class, because V8 keeps the properties of an object
 * literal with a getter in a dictionary: to make one takes ten times as long, and each read of it is slow.
 */
class RequestClient implements Client {
  readonly address: string;
  readonly userAgent: string | null;
  readonly knownBrowser: string | null;
  readonly #language: RequestSource['language'];

  constructor(app: App, { client, headers, cookies, language }: RequestSource) {
    this.address = client.address;
    this.userAgent = headers.get('user-agent');
    this.knownBrowser = readCookie(app, cookies, 'known');
    this.#language = language;
  }

  /** Chosen on access, because only e-mail needs it and most requests send none. */
  get language() {
    return this.#language();
  }
}

/** Routes that need no session. */
const sessionless = /^\/(auth|verify|webhooks|metrics)(\/|$)/;

/**
 * The requests for which the shared cookie is valid: it asks who is signed in and what the plan allows, gets a token of
 * that, and signs out. A sibling host can do no more with it.
 */
const sharedCookieRequests =
  /^((GET|HEAD) (\/api\/session|\/api\/trpc\/sessions\.verify|\/api\/organisations\/[^/]+\/entitlements(\/[^/]+)?)|POST (\/api\/token|\/api\/logout))$/;

/**
 * Resolves a request's principal: from the API key if it presents one, whatever its cookies; else
 * from the session cookie or, for the few requests of a product, from the shared cookie.
 */
async function resolvePrincipal(
  app: App,
  { method, pathname, headers, cookies }: RequestSource,
): Promise<Pick<RequestState, 'principal' | 'stepPending'>> {
  const nobody = { principal: null, stepPending: false };
  if (sessionless.test(pathname)) return nobody;

  // HEAD requests have no side effects.
  const readOnly = method === 'HEAD';
  const key = presentedKey(headers.get('authorization'));
  if (key !== null) {
    const keyPrincipal = await readKey(app, key, { readOnly });
    if (keyPrincipal === null) throw new AppError('UNAUTHENTICATED', 'This API key is unknown, expired or revoked.');
    await limitKey(app, keyPrincipal);
    return { ...nobody, principal: keyPrincipal };
  }

  const token = readCookie(app, cookies, 'session');
  const presented = token === null ? null : await readPresentedSession(app, token, { readOnly });
  const { principal, waits: stepPending } = presented ?? { principal: null, waits: false };
  if (principal !== null || !sharedCookieRequests.test(`${method} ${pathname}`)) return { principal, stepPending };

  const shared = readSharedCookie(app, cookies);
  const asking = shared === null ? null : await readSharedSession(app, shared, { readOnly });
  return { principal: asking, stepPending };
}

/**
 * Whether the browser carries the shared cookie of a session. For /logout alone, which signs out of that too: the
 * session's own cookie may be lost.
 */
export async function hasSharedSession(
  { app }: Pick<RequestState, 'app'>,
  cookies: Pick<RequestCookies, 'get'>,
): Promise<boolean> {
  const shared = readSharedCookie(app, cookies);
  return shared !== null && (await readSharedSession(app, shared, { readOnly: true })) !== null;
}

/**
 * Sets a new shared cookie if a session's browser carries none that is valid: it was lost, or the session is older than
 * COOKIE_DOMAIN. Without it a product would send the browser to sign-in, and sign-in would send it back, without end.
 * Only a navigation gets one, so that the pictures of a page do not replace each other's.
 */
export async function keepSharedCookie(
  { app, principal }: Pick<RequestState, 'app' | 'principal'>,
  cookies: RequestCookies,
  { method, headers }: { method: string; headers: Headers },
): Promise<void> {
  if (app.config.cookieDomain === null || principal?.kind !== 'user') return;
  if (method !== 'GET' || !isNavigation(headers)) return;

  const shared = readSharedCookie(app, cookies);
  if (shared !== null && hashToken(shared) === principal.sharedHash) return;
  const token = readCookie(app, cookies, 'session');
  if (token !== null) await writeSharedCookie(app, cookies, token);
}

/** Starts and ends sessions for the router, which never sees a session's token. */
export function sessionActions(
  { app, client }: Pick<RequestState, 'app' | 'client'>,
  cookies: RequestCookies,
): Context['session'] {
  async function end() {
    const old = readCookie(app, cookies, 'session');
    if (old !== null) await deleteSession(app, old);
  }

  async function write(token: string) {
    writeCookie(app, cookies, 'session', token);
    await writeSharedCookie(app, cookies, token);
  }

  async function begin({ token, browserToken }: Begun) {
    await end();
    await write(token);
    writeCookie(app, cookies, 'known', browserToken);
    if (readCookie(app, cookies, 'step') !== null) clearCookie(app, cookies, 'step');
  }

  return {
    async start(firstStep) {
      const opened = await openSession(app, firstStep, client);
      if (opened.kind === 'session') return begin(opened);

      writeCookie(app, cookies, 'step', opened.stepToken);
      if (opened.waitingToken !== null) {
        await end();
        writeCookie(app, cookies, 'session', opened.waitingToken);
      }
      const { methods } = opened;
      throw new AppError('SECOND_FACTOR_REQUIRED', message('enter_second_factor'), { facts: { methods } });
    },
    begin,
    stepToken: () => readCookie(app, cookies, 'step'),
    challengeCookie: () => readCookie(app, cookies, 'challenge'),
    rememberChallenge: (cookie) => writeCookie(app, cookies, 'challenge', cookie),
    async end() {
      await end();
      const shared = readSharedCookie(app, cookies);
      if (shared !== null) await deleteSharedSession(app, shared);
      clearCookie(app, cookies, 'session');
      if (readCookie(app, cookies, 'step') !== null) clearCookie(app, cookies, 'step');
      clearSharedCookie(app, cookies);
    },
    renew: write,
    rememberSignUp: (browserToken) => writeCookie(app, cookies, 'signup', browserToken),
    browserToken: () => readCookie(app, cookies, 'signup'),
    rememberAttempt: (attempt) => writeCookie(app, cookies, 'attempt', attempt),
  };
}
