import type { Session } from './answers.ts';
import type { CookieSource } from './cookies.ts';
import { GatehouseError } from './error.ts';

/** What a guard needs of a client. */
export type Verifier = { url: string; sessions: { verify: (source: CookieSource) => Promise<Session | null> } };

export type GuardOptions = {
  /** The scope that the request needs. READ unless set. */
  scope?: 'READ' | 'WRITE' | 'ADMIN';
  /** The product's public origin, one of RETURN_ORIGINS: browsers come back to it after sign-in. */
  origin?: string;
};

export type Refusal = {
  status: 401 | 403 | 503;
  body: { error: string; code: string };
  headers: Record<string, string>;
  /** Where a browser is sent in place of the JSON answer; null for an error. */
  location: string | null;
};

/** Returns the session of a request, or the answer that refuses it. Without an answer of Gatehouse the request is refused. */
export async function judge(
  gatehouse: Verifier,
  source: CookieSource,
  path: string,
  { scope = 'READ', origin }: GuardOptions = {},
): Promise<{ session: Session } | { refusal: Refusal }> {
  try {
    const session = await gatehouse.sessions.verify(source);
    if (session === null) {
      const login = new URL('/login', gatehouse.url);
      if (origin !== undefined) login.searchParams.set('return_to', new URL(origin).origin + path);
      return { refusal: refusal(401, 'UNAUTHENTICATED', 'Sign in first.', login.href) };
    }
    if (session.scopes.includes(scope)) return { session };
    return { refusal: refusal(403, 'FORBIDDEN', `This needs the scope ${scope}.`) };
  } catch (error) {
    if (!(error instanceof GatehouseError)) throw error;
    if (error.status !== 403) return { refusal: refusal(503, 'BUSY', 'Sign-in cannot be checked at the moment.') };
    const waits = error.code === 'AWAITING_APPROVAL' ? new URL('/awaiting-approval', gatehouse.url).href : null;
    return { refusal: refusal(403, error.code ?? 'FORBIDDEN', error.message, waits) };
  }
}

function refusal(status: 401 | 403 | 503, code: string, error: string, location: string | null = null): Refusal {
  const headers = {
    'cache-control': 'no-store',
    vary: 'accept, cookie',
    ...(status === 503 && { 'retry-after': '5' }),
  };
  return { status, body: { error, code }, headers, location };
}

/** Whether a browser asks for a page, which can be redirected; a request of a script cannot. */
export function asksForPage(method: string | undefined, accept: string | null | undefined): boolean {
  return (method === 'GET' || method === 'HEAD') && (accept ?? '').includes('text/html');
}

/**
 * Returns the session of a Fetch request. Throws nothing that a request can cause: in place of a session
 * it returns the response to send, a redirect to sign-in for pages and JSON for other requests.
 */
export async function guardRequest(
  gatehouse: Verifier,
  request: Request,
  options: GuardOptions = {},
): Promise<Session | Response> {
  const { pathname, search } = new URL(request.url);
  const judged = await judge(gatehouse, request, pathname + search, options);
  if ('session' in judged) return judged.session;

  const { status, body, headers, location } = judged.refusal;
  if (location !== null && asksForPage(request.method, request.headers.get('accept'))) {
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

/** Returns the session of a request of Node, or answers it as `guardRequest` and returns null. */
export async function guardNode(
  gatehouse: Verifier,
  request: NodeRequest,
  response: NodeResponse,
  options: GuardOptions = {},
): Promise<Session | null> {
  const path = request.originalUrl ?? request.url ?? '/';
  const judged = await judge(gatehouse, request, path.startsWith('/') ? path : '/', options);
  if ('session' in judged) return judged.session;

  const { status, body, headers, location } = judged.refusal;
  if (location !== null && asksForPage(request.method, request.headers.accept)) {
    response.writeHead(302, { ...headers, location });
    response.end();
    return null;
  }
  response.writeHead(status, { ...headers, 'content-type': 'application/json' });
  response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  return null;
}
