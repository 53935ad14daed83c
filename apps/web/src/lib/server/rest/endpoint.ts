import type { Caller } from '@gatehouse/api/router/root';
import type { Cookies } from '@sveltejs/kit';
import { limitOf, readJson } from '../http/read-body.ts';

/** A request to a REST endpoint, from Node’s server or from Kit. */
export type RestRequest = {
  method: string;
  /** As in a URL: percent-encoded. */
  pathname: string;
  /** The query of the URL without its "?". */
  search: string;
  /** A header by its name in lower case; null if the request has none. */
  headers: Pick<Headers, 'get'>;
  cookies: Pick<Cookies, 'get' | 'set' | 'delete'>;
  clientAddress: string;
  /** Aborted if the client disconnects before the answer. */
  signal: AbortSignal;
  /** @throws AppError TOO_LARGE if the body has more bytes. */
  readBytes: (most: number) => Promise<Buffer>;
};

/** What an endpoint answers with status 200. */
export type Answer = { body: unknown; headers?: Record<string, string> };

/** `params` are those of the path. */
export type Endpoint = (request: RestRequest, locals: App.Locals, params: Params) => Promise<Answer>;

export type Params = Record<string, string>;
export type Method = 'GET' | 'POST' | 'PUT';

type Call<Result> = (api: Caller, address: { path: Params; query: Params }) => Promise<Result>;
type CallWithBody<Result> = (api: Caller, body: never, address: { path: Params; query: Params }) => Promise<Result>;

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
    const body = await readJson(request, limitOf(locals));
    return { body: await call(locals.api, body as never, { path, query: queryOf(request) }) };
  };
}

/**
 * Adds parameters of the path to a body. A body that could not be read stays the error, which the
 * procedure throws after its check of authority.
 */
export function withPath<Body extends object, Path extends object>(body: Body, path: Path): Body & Path {
  return body instanceof Error ? (body as unknown as Body & Path) : { ...body, ...path };
}

/** An empty value in a query counts as absent, and the first of equal names wins. */
function queryOf({ search }: RestRequest): Params {
  if (search === '') return {};
  return Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== '').reverse());
}
