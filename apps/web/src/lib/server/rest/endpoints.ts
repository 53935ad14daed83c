import { receiveEvent } from '@gatehouse/api/billing/events/receive-event';
import type { Caller } from '@gatehouse/api/router/root';
import { bodyLimitOf, readJson } from '../http/read-body.ts';
import { type RequestSource, renewPrincipalAfter } from '../http/router-context.ts';

/** A request to a REST endpoint, from Node’s server or from Kit. */
export type RestRequest = RequestSource & {
  /** The query of the URL without its "?". */
  search: string;
  /** @throws AppError TOO_LARGE if the body has more bytes. */
  readBytes: (maxBytes: number) => Promise<Buffer>;
};

/** What an endpoint answers with status 200. */
export type Answer = { body: unknown; headers?: Record<string, string> };

/** `params` are those of the path. */
export type Endpoint = (request: RestRequest, locals: App.Locals, params: Params) => Promise<Answer>;

export type Params = Record<string, string>;
type Method = 'GET' | 'POST' | 'PUT';

type Call<Result> = (api: Caller, params: { path: Params; query: Params }) => Promise<Result>;
type CallWithBody<Result> = (api: Caller, body: never, params: { path: Params; query: Params }) => Promise<Result>;

/** An endpoint that passes the parameters to a procedure of the router. `headersOf` derives headers from its answer. */
export function reads<Result>(call: Call<Result>, headersOf?: (answer: Result) => Record<string, string>): Endpoint {
  return async (request, { api }, path) => {
    const body = await call(api, { path, query: queryOf(request) });
    return headersOf === undefined ? { body } : { body, headers: headersOf(body) };
  };
}

/** As `reads`, but also passes the JSON of the body. */
export function writes<Result>(call: CallWithBody<Result>): Endpoint {
  return async (request, locals, path) => {
    const body = await renewPrincipalAfter(locals, () => readJson(request, bodyLimitOf(locals)));
    return { body: await call(locals.api, body as never, { path, query: queryOf(request) }) };
  };
}

/**
 * Adds parameters of the path to a body. In place of a body that could not be read, the error is returned as it is:
 * the procedure throws it after it has checked the principal's authority.
 */
function withPath<Body extends object, Path extends object>(body: Body, path: Path): Body & Path {
  return body instanceof Error ? (body as unknown as Body & Path) : { ...body, ...path };
}

/** An empty value in a query counts as absent, and the first of equal names wins. */
function queryOf({ search }: RestRequest): Params {
  if (search === '') return {};
  return Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== '').reverse());
}

/**
 * The REST endpoints by path and method. `[name]` is a parameter. Other methods answer 405, HEAD
 * answers as GET, and other paths below /api and /webhooks answer 404.
 */
export const endpoints: Record<string, Partial<Record<Method, Endpoint>>> = {
  '/api/login': { POST: writes((api, body) => api.signIn.withPassword(body)) },
  '/api/logout': { POST: writes((api, body) => api.signIn.out(body)) },
  '/api/signup': { POST: writes((api, body) => api.accounts.signUp(body)) },
  '/api/signup/resend': { POST: writes((api, body) => api.accounts.resend(body)) },
  /** The principal as JSON, and as headers for a reverse proxy in front of a product. */
  '/api/session': {
    GET: reads(
      (api) => api.sessions.verify(),
      ({ user, organisation, scopes }) => ({
        'x-gatehouse-user': user.id,
        ...(organisation && { 'x-gatehouse-organisation': organisation.id }),
        'x-gatehouse-scopes': scopes.join(' '),
      }),
    ),
  },
  '/api/subscription': { GET: reads((api) => api.subscription.read()) },
  '/api/billing/checkout': { POST: writes((api, body) => api.billing.checkout(body)) },
  '/api/billing/portal': { POST: writes((api, body) => api.billing.portal(body)) },
  '/api/billing/cancel': { POST: writes((api, body) => api.billing.cancel(body)) },
  '/api/billing/resume': { POST: writes((api, body) => api.billing.resume(body)) },
  '/api/organisations': { GET: reads((api, { query }) => api.organisations.list(query)) },
  '/api/organisations/[id]/entitlements': {
    GET: reads((api, { path: { id = '' } }) => api.entitlements.get({ organisation: id })),
  },
  '/api/organisations/[id]/entitlements/[name]': {
    GET: reads((api, { path: { id = '', name = '' } }) => api.entitlements.check({ organisation: id, name })),
  },
  '/api/organisations/[id]/members': {
    GET: reads((api, { path: { id = '' }, query }) => api.members.list({ ...query, organisation: id })),
  },
  '/api/changes': { GET: reads((api, { query }) => api.changes.since(query)) },
  '/api/usage/reserve': { POST: writes((api, body) => api.usage.reserve(body)) },
  '/api/usage/release': { POST: writes((api, body) => api.usage.release(body)) },
  '/api/usage/report': { POST: writes((api, body) => api.usage.report(body)) },
  '/api/usage/[meter]': {
    GET: reads((api, { path: { meter }, query }) =>
      // The procedure refuses a query without the organisation.
      api.usage.read({ ...query, meter } as Parameters<typeof api.usage.read>[0]),
    ),
    PUT: writes((api, body: Parameters<typeof api.usage.set>[0], { path: { meter = '' } }) =>
      api.usage.set(withPath(body, { meter })),
    ),
  },
  '/api/token': { POST: writes((api, body) => api.tokens.issue(body)) },
  '/api/openapi.json': { GET: reads((api) => api.service.openapi()) },
  /** A key is published an hour before it signs, so five minutes in a cache are safe. */
  '/.well-known/jwks.json': {
    GET: reads(
      (api) => api.tokens.keySet(),
      () => ({ 'cache-control': 'public, max-age=300' }),
    ),
  },
  '/webhooks/payment': { POST: receivePaymentEvent },
};

/** Receives signed events, verified on their exact bytes. The status codes are those of the interface §4. */
async function receivePaymentEvent({ headers, readBytes }: Parameters<Endpoint>[0], { app, accepted }: App.Locals) {
  const body = await readBytes(accepted.maxBodyBytes);
  // The interface's name comes first; the provider sends the other one.
  const signature = headers.get('payment-signature') ?? headers.get('stripe-signature') ?? '';
  return { body: await receiveEvent(app, { body, signature }) };
}

/** The endpoints that a path matches. */
export type RouteMatch = {
  /** The pattern of the path, for metrics and the log: it contains no id. */
  route: string;
  /** Null if the path has no endpoint. */
  methods: string[] | null;
  byMethod: Partial<Record<string, Endpoint>>;
  params: Params;
};

const noMatch: RouteMatch = { route: '/api/[...rest]', methods: null, byMethod: {}, params: {} };

const routes = Object.entries(endpoints).map(([route, methods]) => {
  const byMethod: Partial<Record<string, Endpoint>> =
    methods.GET === undefined ? methods : { ...methods, HEAD: methods.GET };
  return { route, methods: methodsOf(methods), byMethod };
});
const withoutParams = new Map(routes.map((each) => [each.route, { ...each, params: {} }]));
const withParams = routes
  .filter(({ route }) => route.includes('['))
  .map((each) => ({ ...each, pattern: new RegExp(`^${each.route.replace(/\[(\w+)\]/g, '(?<$1>[^/]+)')}$`) }));

/** Returns the endpoints of a path. A path without a parameter comes before one with a parameter. */
export function findEndpoint(pathname: string): RouteMatch {
  const match = withoutParams.get(pathname);
  if (match !== undefined) return match;

  for (const { pattern, ...each } of withParams) {
    const params = pattern.exec(pathname)?.groups;
    if (params !== undefined) return decoded(each, params);
  }
  return noMatch;
}

function methodsOf(endpoint: Partial<Record<Method, Endpoint>>): string[] {
  return (Object.keys(endpoint) as Method[]).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Decodes the parameters of a match. One that is not valid UTF-8 matches no endpoint. */
function decoded(match: Omit<RouteMatch, 'params'>, params: Params): RouteMatch {
  try {
    const values = Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { ...match, params: Object.fromEntries(values) };
  } catch {
    return noMatch;
  }
}
