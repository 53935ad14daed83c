import { isAppError, toAppError } from '@gatehouse/api/errors';
import { appRouter } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { largestBodyOf } from './endpoints.ts';
import { errorResponse } from './error-response.ts';
import { readJsonText } from './read-body.ts';
import { routerContext } from './router-context.ts';

/** The router over HTTP, by the rules of the JSON endpoints and in tRPC's envelope. */
export async function trpcEndpoint(event: RequestEvent): Promise<Response> {
  try {
    return await fetchRequestHandler({
      endpoint: '/api/trpc',
      req: await readableByTrpc(event),
      router: appRouter,
      allowBatching: false,
      createContext: () => routerContext(event),
      responseMeta: ({ errors }) => ({ headers: waitingTime(errors[0]) }),
    });
  } catch (error) {
    if (toAppError(error).code === 'INTERNAL') {
      event.locals.app.log.error('request failed', { requestId: event.locals.requestId, error });
    }
    return errorResponse(error);
  }
}

/**
 * The request as JSON whatever it says it is, because tRPC would take forms and bytes
 * as well. What cannot be read becomes a body that breaks off with the httpErrorOf: tRPC
 * reads it after permission is clear, and hands its error on as the cause.
 */
async function readableByTrpc({ request, url }: RequestEvent): Promise<Request> {
  const { signal } = request;
  const headers = { 'content-type': 'application/json' };
  if (request.method !== 'POST') return new Request(url, { headers, signal });

  const read = await readJsonText(request, largestBodyOf(url.pathname));
  // The text as it came: writing a value that is nested deeply once more would overflow the stack.
  const body = isAppError(read) ? new ReadableStream({ start: (stream) => stream.error(read) }) : read.text;
  return new Request(url, { method: 'POST', headers, body, signal, duplex: 'half' } as RequestInit);
}

function waitingTime(error: Error | undefined): Headers {
  const seconds = error && toAppError(error).retryAfterSeconds;
  return new Headers(seconds === undefined ? {} : { 'retry-after': String(seconds) });
}
