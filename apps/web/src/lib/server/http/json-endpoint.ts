import type { Caller } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { largestBodyOf } from './endpoints.ts';
import { errorResponse } from './error-response.ts';
import { logUnexpected } from './log-unexpected.ts';
import { readJson } from './read-body.ts';

/**
 * A REST adapter: passes the body to a procedure of the router, and returns its answer or its
 * error as JSON. `headersOf` derives headers from the answer.
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
      logUnexpected(locals, error);
      return errorResponse(error);
    }
  };
}
