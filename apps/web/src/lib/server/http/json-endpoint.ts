import { toAppError } from '@gatehouse/api/errors';
import type { Caller } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { largestBodyOf } from './endpoints.ts';
import { errorResponse } from './error-response.ts';
import { readJson } from './read-body.ts';

/**
 * A REST adapter: hands the body to a procedure of the router and its answer, or the
 * httpErrorOf, back as JSON. `headersOf` turns the answer into headers as well.
 */
export function jsonEndpoint<Answer>(
  call: (api: Caller, body: never) => Promise<Answer>,
  headersOf: (answer: Answer) => Record<string, string> = () => ({}),
) {
  return async function handle({ request, url, locals }: RequestEvent): Promise<Response> {
    try {
      const hasBody = request.method === 'POST';
      const body = hasBody ? await readJson(request, largestBodyOf(url.pathname)) : {};
      const answer = await call(locals.api, body as never);
      return Response.json(answer, { headers: headersOf(answer) });
    } catch (error) {
      const isLogged = error instanceof Error && error.name === 'TRPCError';
      if (!isLogged && toAppError(error).code === 'INTERNAL') {
        locals.app.log.error('request failed', { requestId: locals.requestId, error });
      }
      return errorResponse(error);
    }
  };
}
