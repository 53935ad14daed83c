import type { App } from '../app.ts';
import { receiveEvent } from '../billing/events/receive-event.ts';
import { AppError, invalid, isAppError } from '../platform/errors.ts';
import { unknownMember } from '../router/body.ts';
import type { Endpoint } from '../router/endpoint.ts';
import { endpoints } from '../router/endpoints.ts';
import type { Caller } from '../router/root.ts';
import { answerMetrics } from './answer-metrics.ts';
import { answerTrpc } from './answer-trpc.ts';
import { httpErrorOf, recordFailure, rejectionHeaders } from './error-response.ts';
import { observeRequest } from './observe-request.ts';
import { newRequestState, openRequest } from './open-request.ts';
import { parseJson } from './read-body.ts';
import type { EndpointAnswer, EndpointRequest, RequestState } from './request.ts';
import { apiHeaders } from './security-headers.ts';
import { forwardedForDoctor } from './watch-proxies.ts';

/**
 * Returns what answers requests to the API: log line, span and metrics, request guard, body, principal, then the
 * endpoint, the typed router or the metrics. It never throws. A path without an endpoint is answered with 404, another
 * method with 405; HEAD is answered as GET.
 */
export function createEndpoints(app: App): (request: EndpointRequest) => Promise<EndpointAnswer> {
  const commonHeaders = { 'content-type': 'application/json', ...apiHeaders(app.config) };

  return async function answerEndpoint(request) {
    const state = newRequestState(app);
    const match = matchOf(request.pathname, app);
    const { status, headers, body } = await observeRequest(
      state,
      { method: request.method, route: match.route, headers: request.headers },
      () => openAndAnswer(state, request, match),
    );
    const asked = forwardedForDoctor(app, request.headers);
    return { status, headers: { ...commonHeaders, ...headers, ...asked, 'x-request-id': state.requestId }, body };
  };
}

/** Whether a path belongs to the API, known or not. /api/docs is a page. */
export function isApiPath(pathname: string): boolean {
  if (pathname.startsWith('/api/')) return !/^\/api\/docs(\/|\/__data\.json)?$/.test(pathname);
  return pathname.startsWith('/webhooks/') || pathname === '/.well-known/jwks.json' || pathname === '/metrics';
}

/** What answers a path. */
type Match = {
  /** The pattern of the path, for metrics and the log: it contains no id. */
  route: string;
  /** Null if there is nothing at the path. */
  methods: string[] | null;
  answer: (state: RequestState, request: EndpointRequest) => Promise<EndpointAnswer>;
};

/** Returns what is at a path of the API. */
export function matchOf(pathname: string, { config }: Pick<App, 'config'>): Match {
  // The library would also decode a name, which admission and guard compare as it is.
  if (/^\/api\/trpc\/[\w.]+$/.test(pathname)) {
    return { route: '/api/trpc/[...path]', methods: ['GET', 'HEAD', 'POST'], answer: answerTrpc };
  }
  if (pathname === '/metrics' && config.metricsTokens.length > 0) {
    return { route: '/metrics', methods: ['GET', 'HEAD'], answer: answerMetrics };
  }
  const match = findEndpoint(pathname);
  return { ...match, answer: (state, request) => callEndpoint(state, request, match) };
}

async function openAndAnswer(state: RequestState, request: EndpointRequest, match: Match): Promise<EndpointAnswer> {
  try {
    await openRequest(state, request, match.methods);
  } catch (error) {
    return errorAnswer(state, error, rejectionHeaders(error, match.methods));
  }
  return answerMatch(state, request, match);
}

/** Answers a request whose principal is known by what is at its path. An error becomes its JSON answer. */
export async function answerMatch(
  state: RequestState,
  request: EndpointRequest,
  { answer }: Match,
): Promise<EndpointAnswer> {
  try {
    return await answer(state, request);
  } catch (error) {
    return errorAnswer(state, error);
  }
}

/** Calls the endpoint of the method for the principal of the request. */
async function callEndpoint(
  state: RequestState,
  request: EndpointRequest,
  { byMethod, params }: EndpointMatch,
): Promise<EndpointAnswer> {
  const endpoint = byMethod[request.method];
  if (endpoint === undefined) throw new AppError('NOT_FOUND', 'There is no such path.');
  const answer =
    endpoint.id === 'webhooks.payment'
      ? await receivePaymentEvent(state, request)
      : await procedureOf(state.api, endpoint.id)(inputOf(endpoint, state, request, params));
  return {
    status: endpoint.status ?? 200,
    headers: endpoint.headersOf?.(answer as never) ?? {},
    body: JSON.stringify(answer),
  };
}

/** Receives signed events, verified on their exact bytes. The status codes are those of the interface §4. */
function receivePaymentEvent({ app, body }: RequestState, { headers }: EndpointRequest) {
  // The interface's name comes first; the provider sends the other one.
  const signature = headers.get('payment-signature') ?? headers.get('stripe-signature') ?? '';
  return receiveEvent(app, { body, signature });
}

type Procedure = (input: unknown) => Promise<unknown>;

function procedureOf(api: Caller, name: string): Procedure {
  const [area = '', procedure = ''] = name.split('.');
  return (api as unknown as Record<string, Record<string, Procedure>>)[area]?.[procedure] as Procedure;
}

/**
 * The input of a procedure: the query or the body, and the parameters of the path. In place of a body that could not be
 * parsed the error is passed as it is: the procedure throws it after it has checked the principal's authority.
 */
function inputOf(
  { method, query, inputOfPath }: Endpoint,
  { body }: RequestState,
  { search, headers }: EndpointRequest,
  params: Record<string, string>,
): unknown {
  const ofPath = inputOfPath?.(params) ?? params;
  if (method === 'get') return { ...(query !== undefined && queryOf(search)), ...ofPath };
  const read = parseJson(body, headers.get('content-type'));
  if (isAppError(read)) return read;
  const twice = Object.keys(ofPath).find((name) => Object.hasOwn(read.value, name));
  return twice === undefined ? { ...read.value, ...ofPath } : invalid({ [twice]: unknownMember });
}

/**
 * An empty value in a query counts as absent, but for an address: without it everybody would be listed. The first of
 * equal names wins.
 */
function queryOf(search: string): Record<string, string> {
  if (search === '') return {};
  const given = [...new URLSearchParams(search)].filter(([name, value]) => value !== '' || name === 'email');
  return Object.fromEntries(given.reverse());
}

function errorAnswer(state: RequestState, error: unknown, headers: Record<string, string> = {}): EndpointAnswer {
  recordFailure(state, error);
  const { status, body, retryAfterSeconds } = httpErrorOf(error);
  const seconds = retryAfterSeconds ?? (status === 503 ? 5 : null);
  if (seconds !== null) headers['retry-after'] = String(seconds);
  return { status, headers, body: JSON.stringify(body) };
}

/** The endpoints that a path matches. */
type EndpointMatch = {
  /** The pattern of the path, for metrics and the log: it contains no id. */
  route: string;
  /** Null if the path has no endpoint. */
  methods: string[] | null;
  byMethod: Partial<Record<string, Endpoint>>;
  params: Record<string, string>;
};

const noMatch: EndpointMatch = { route: '/api/[...rest]', methods: null, byMethod: {}, params: {} };

const routes = [...new Set(endpoints.map(({ path }) => path))].map((path) => {
  const byMethod: Partial<Record<string, Endpoint>> = {};
  for (const endpoint of endpoints.filter((each) => each.path === path)) {
    byMethod[endpoint.method.toUpperCase()] = endpoint;
    if (endpoint.method === 'get') byMethod.HEAD = endpoint;
  }
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => method in byMethod);
  return { route: path.replaceAll('{', '[').replaceAll('}', ']'), methods, byMethod, pattern };
});
const withoutParams = new Map(
  routes.filter(({ route }) => !route.includes('[')).map((each) => [each.route, { ...each, params: {} }]),
);
const withParams = routes.filter(({ route }) => route.includes('['));

/** Returns the endpoints of a path. A path without a parameter comes before one with a parameter. */
function findEndpoint(pathname: string): EndpointMatch {
  const match = withoutParams.get(pathname);
  if (match !== undefined) return match;

  for (const { pattern, ...each } of withParams) {
    const params = pattern.exec(pathname)?.groups;
    if (params !== undefined) return decoded(each, params);
  }
  return noMatch;
}

/** Decodes the parameters of a match. One that is not valid UTF-8 matches no endpoint. */
function decoded(match: Omit<EndpointMatch, 'params'>, params: Record<string, string>): EndpointMatch {
  try {
    const values = Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { ...match, params: Object.fromEntries(values) };
  } catch {
    return noMatch;
  }
}
