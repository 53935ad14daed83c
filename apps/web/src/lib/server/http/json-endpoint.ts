import type { Caller } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { errorResponse } from './error-response.ts';
import { limitOf, readJson } from './read-body.ts';
import { recordFailure } from './record-failure.ts';

/** The parameters of a path and of its query. An empty value in a query counts as absent. */
export type Address = { path: Record<string, string>; query: Record<string, string> };

/**
 * A REST adapter: passes the body and the parameters to a procedure of the router, and returns its
 * answer or its error as JSON. `headersOf` derives headers from the answer.
 */
export function jsonEndpoint<Answer>(
  call: (api: Caller, body: never, address: Address) => Promise<Answer>,
  headersOf: (answer: Answer) => Record<string, string> = () => ({}),
) {
  return async function handle({ request, url, params, locals }: RequestEvent): Promise<Response> {
    try {
      const hasBody = ['POST', 'PUT'].includes(request.method);
      const body = hasBody ? await readJson(request, limitOf(locals)) : {};
      const answer = await call(locals.api, body as never, { path: params as Address['path'], query: queryOf(url) });
      return Response.json(answer, { headers: headersOf(answer) });
    } catch (error) {
      recordFailure(locals, error);
      return errorResponse(error);
    }
  };
}

/**
 * Adds parameters of the path to a body. A body that could not be read stays the error, which the
 * procedure throws after its check of authority.
 */
export function withPath<Body extends object, Path extends object>(body: Body, path: Path): Body & Path {
  return body instanceof Error ? (body as unknown as Body & Path) : { ...body, ...path };
}

function queryOf(url: URL): Record<string, string> {
  return Object.fromEntries([...url.searchParams].filter(([, value]) => value !== '').reverse());
}
