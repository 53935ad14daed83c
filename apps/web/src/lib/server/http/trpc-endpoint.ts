import { errorResponse, recordFailure } from '@gatehouse/api/http/error-response';
import { routerContext } from '@gatehouse/api/http/open-request';
import { parseJson } from '@gatehouse/api/http/read-body';
import { isAppError, toAppError } from '@gatehouse/api/platform/errors';
import { appRouter } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';

/** Serves the router over HTTP, with the rules of the JSON endpoints and tRPC's envelope. */
export async function trpcEndpoint(event: RequestEvent): Promise<Response> {
  try {
    return await fetchRequestHandler({
      endpoint: '/api/trpc',
      req: toTrpcRequest(event),
      router: appRouter,
      allowBatching: false,
      createContext: () => routerContext(event.locals),
      onError: ({ error }) => recordFailure(event.locals, error),
      responseMeta: ({ errors }) => ({ headers: retryAfter(errors[0]) }),
    });
  } catch (error) {
    recordFailure(event.locals, error);
    return errorResponse(error);
  }
}

/**
 * Returns the request with the content type JSON, because tRPC would accept forms and bytes as well. A
 * body that cannot be parsed becomes a stream that fails with the parse error: tRPC reads it
 * after the authorisation, and keeps the error as the cause.
 */
function toTrpcRequest({ request, url, locals }: RequestEvent): Request {
  const { signal } = request;
  const headers = { 'content-type': 'application/json' };
  if (request.method !== 'POST') return new Request(url, { headers, signal });

  const read = parseJson(locals.body, request.headers.get('content-type'));
  // The original text: serialising a deeply nested value again would overflow the stack.
  const sent = isAppError(read) ? new ReadableStream({ start: (stream) => stream.error(read) }) : read.text;
  return new Request(url, { method: 'POST', headers, body: sent, signal, duplex: 'half' } as RequestInit);
}

function retryAfter(error: Error | undefined): Headers {
  const seconds = error && toAppError(error).retryAfterSeconds;
  return new Headers(seconds === undefined ? {} : { 'retry-after': String(seconds) });
}
