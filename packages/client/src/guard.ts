import type { Session } from './answers.ts';
import type { CookieSource } from './cookies.ts';
import { GatehouseError } from './error.ts';

/** The part of a client that a guard uses. */
export type Verifier = { publicUrl: string; sessions: { verify: (source: CookieSource) => Promise<Session | null> } };

/** Why a guard lets a request not pass. */
export type Refusal = {
  kind: 'signedOut' | 'awaitingApproval' | 'factorSetup' | 'noAccess' | 'unavailable';
  status: 401 | 403 | 503;
  code: string;
  /** A sentence for people. */
  error: string;
  /** The page of Gatehouse that helps: sign-in, the wait for approval, setting up a factor; null if none does. */
  location: string | null;
  /** Whether a browser asks for a page. Only such a request can be redirected. */
  isPage: boolean;
};

export type GuardAnswer = { status: number; headers?: Record<string, string>; body?: string };
/** Answers a refused request in your product's way; undefined leaves it to the guard. */
export type GuardHook = (refusal: Refusal) => GuardAnswer | undefined | Promise<GuardAnswer | undefined>;
/** A hook for each reason. Without one the guard redirects to the page that helps, or shows a plain page. */
export type GuardHooks = Partial<Record<Refusal['kind'], GuardHook>>;

export type GuardOptions = {
  /** The scope that the request needs. READ unless set. */
  scope?: 'READ' | 'WRITE' | 'ADMIN';
  /** The product's public origin, one of RETURN_ORIGINS: browsers return to it after sign-in. */
  origin?: string;
  hooks?: GuardHooks;
};

type GuardedRequest = { source: CookieSource; path: string; method: string | undefined; accept: string | null };

/**
 * Returns the session of a Fetch request, or the response to send without one: for pages a redirect or a plain page, JSON
 * for other requests. No content of a request makes it throw.
 *
 * @throws what a hook throws.
 */
export async function guardRequest(
  gatehouse: Verifier,
  request: Request,
  options: GuardOptions = {},
): Promise<Session | Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const guarded = { source: request, path: pathname + search, method, accept: headers.get('accept') };
  const result = await guard(gatehouse, guarded, options);
  if ('session' in result) return result.session;
  const { status, headers: sent, body } = result.answer;
  return new Response(method === 'HEAD' ? null : (body ?? null), { status, ...(sent && { headers: sent }) });
}

/** A request of Node's http server. Express puts the whole path into originalUrl. */
export type NodeRequest = {
  method?: string | undefined;
  url?: string | undefined;
  originalUrl?: string;
  headers: { cookie?: string | undefined; accept?: string | undefined };
};
export type NodeResponse = {
  writeHead: (status: number, headers: Record<string, string>) => unknown;
  end: (body?: string) => unknown;
};

/** Returns the session of a request of Node, or answers the request as `guardRequest` does and returns null. */
export async function guardNode(
  gatehouse: Verifier,
  request: NodeRequest,
  response: NodeResponse,
  options: GuardOptions = {},
): Promise<Session | null> {
  const { method, headers } = request;
  const path = request.originalUrl ?? request.url ?? '/';
  const guarded = {
    source: request,
    path: path.startsWith('/') ? path : '/',
    method,
    accept: headers.accept ?? null,
  };
  const result = await guard(gatehouse, guarded, options);
  if ('session' in result) return result.session;
  response.writeHead(result.answer.status, result.answer.headers ?? {});
  response.end(method === 'HEAD' ? undefined : result.answer.body);
  return null;
}

async function guard(
  gatehouse: Verifier,
  request: GuardedRequest,
  options: GuardOptions,
): Promise<{ session: Session } | { answer: GuardAnswer }> {
  const result = await verify(gatehouse, request, options);
  if ('session' in result) return result;
  const { refusal } = result;
  const own = await options.hooks?.[refusal.kind]?.(refusal);
  return { answer: own ?? defaultAnswer(refusal, gatehouse.publicUrl) };
}

async function verify(
  gatehouse: Verifier,
  { source, path, method, accept }: GuardedRequest,
  { scope = 'READ', origin }: GuardOptions,
): Promise<{ session: Session } | { refusal: Refusal }> {
  const isPage = (method === 'GET' || method === 'HEAD') && (accept ?? '').includes('text/html');
  const refuse = (
    kind: Refusal['kind'],
    status: Refusal['status'],
    code: string,
    error: string,
    page: string | null = null,
  ) => {
    const location = page === null ? null : new URL(page, gatehouse.publicUrl).href;
    return { refusal: { kind, status, code, error, location, isPage } };
  };

  try {
    const session = await gatehouse.sessions.verify(source);
    if (session === null) {
      const query = origin === undefined ? '' : `?${new URLSearchParams({ return_to: new URL(origin).origin + path })}`;
      return refuse('signedOut', 401, 'UNAUTHENTICATED', 'Sign in first.', `/login${query}`);
    }
    if (session.scopes.includes(scope)) return { session };
    return refuse('noAccess', 403, 'FORBIDDEN', `This needs the scope ${scope}.`);
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error;
    const { status, code, message } = error;
    if (status !== 403) return refuse('unavailable', 503, 'BUSY', 'Sign-in cannot be checked at the moment.');
    if (code === 'AWAITING_APPROVAL') return refuse('awaitingApproval', 403, code, message, '/awaiting-approval');
    if (code === 'SECOND_FACTOR_SETUP') return refuse('factorSetup', 403, code, message, '/account/security/required');
    return refuse('noAccess', 403, code ?? 'FORBIDDEN', message);
  }
}

/** A redirect or a plain page for browsers, JSON for programs. */
function defaultAnswer({ kind, status, code, error, location, isPage }: Refusal, publicUrl: string): GuardAnswer {
  const headers = {
    'cache-control': 'no-store',
    vary: 'accept, cookie',
    ...(status === 503 && { 'retry-after': '5' }),
  };
  if (isPage && location !== null) return { status: 302, headers: { ...headers, location } };
  if (isPage) return { status, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' }, body: page() };
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ error, code }),
  };

  function page(): string {
    const title = kind === 'unavailable' ? 'One moment, please' : 'No access';
    const text =
      kind === 'unavailable'
        ? 'Sign-in cannot be checked at the moment. Load this page again in a few seconds.'
        : 'You are signed in, but your account may not open this page. Ask an administrator of your organisation.';
    const link = kind === 'unavailable' ? '' : `<p><a href="${escapeMarkup(publicUrl)}/">Your account</a></p>`;
    return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><main><h1>${title}</h1><p>${text}</p>${link}</main></body>
</html>
`;
  }
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
