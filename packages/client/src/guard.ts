import type { Session } from './answers.ts';
import type { CookieSource } from './cookies.ts';
import { GatehouseError } from './error.ts';

/** The part of a client that a guard uses. */
export type Verifier = { url: string; sessions: { verify: (source: CookieSource) => Promise<Session | null> } };

export type GuardOptions = {
  /** The scope that the request needs. READ unless set. */
  scope?: 'READ' | 'WRITE' | 'ADMIN';
  /** The product's public origin, one of RETURN_ORIGINS: browsers return to it after sign-in. */
  origin?: string;
};

type ErrorAnswer = {
  status: 401 | 403 | 503;
  body: { error: string; code: string };
  headers: Record<string, string>;
  /** The address to which a browser is redirected in place of the JSON answer; null for an error. */
  location: string | null;
};

/**
 * Returns the session of a request, or the answer that refuses it. If Gatehouse does not answer, the
 * request is refused with 503.
 */
async function verify(
  gatehouse: Verifier,
  source: CookieSource,
  path: string,
  { scope = 'READ', origin }: GuardOptions = {},
): Promise<{ session: Session } | { errorAnswer: ErrorAnswer }> {
  try {
    const session = await gatehouse.sessions.verify(source);
    if (session === null) {
      const login = new URL('/login', gatehouse.url);
      if (origin !== undefined) login.searchParams.set('return_to', new URL(origin).origin + path);
      return { errorAnswer: errorAnswer(401, 'UNAUTHENTICATED', 'Sign in first.', login.href) };
    }
    if (session.scopes.includes(scope)) return { session };
    return { errorAnswer: errorAnswer(403, 'FORBIDDEN', `This needs the scope ${scope}.`) };
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error;
    if (error.status !== 403)
      return { errorAnswer: errorAnswer(503, 'BUSY', 'Sign-in cannot be checked at the moment.') };
    const page = error.code === 'AWAITING_APPROVAL' ? new URL('/awaiting-approval', gatehouse.url).href : null;
    return { errorAnswer: errorAnswer(403, error.code ?? 'FORBIDDEN', error.message, page) };
  }
}

function errorAnswer(
  status: 401 | 403 | 503,
  code: string,
  error: string,
  location: string | null = null,
): ErrorAnswer {
  const headers = {
    'cache-control': 'no-store',
    vary: 'accept, cookie',
    ...(status === 503 && { 'retry-after': '5' }),
  };
  return { status, body: { error, code }, headers, location };
}

/** Whether a browser requests a page, which can be redirected; a request of a script cannot. */
function requestsPage(method: string | undefined, accept: string | null | undefined): boolean {
  return (method === 'GET' || method === 'HEAD') && (accept ?? '').includes('text/html');
}

/**
 * Returns the session of a Fetch request, or the response to send without one: a redirect to sign-in
 * for pages, JSON for other requests. No content of a request makes it throw.
 */
export async function guardRequest(
  gatehouse: Verifier,
  request: Request,
  options: GuardOptions = {},
): Promise<Session | Response> {
  const { pathname, search } = new URL(request.url);
  const result = await verify(gatehouse, request, pathname + search, options);
  if ('session' in result) return result.session;

  const { status, body, headers, location } = result.errorAnswer;
  if (location !== null && requestsPage(request.method, request.headers.get('accept'))) {
    return new Response(null, { status: 302, headers: { ...headers, location } });
  }
  return Response.json(body, { status, headers });
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
  const path = request.originalUrl ?? request.url ?? '/';
  const result = await verify(gatehouse, request, path.startsWith('/') ? path : '/', options);
  if ('session' in result) return result.session;

  const { status, body, headers, location } = result.errorAnswer;
  if (location !== null && requestsPage(request.method, request.headers.accept)) {
    response.writeHead(302, { ...headers, location });
    response.end();
    return null;
  }
  response.writeHead(status, { ...headers, 'content-type': 'application/json' });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  return null;
}
