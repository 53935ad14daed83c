import { isAppError, toAppError } from '@gatehouse/api/platform/errors';
import { appRouter } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { challengeHeaders, errorResponse } from './error-response.ts';
import { bodyLimitOf, readJsonText, readRequestBytes } from './read-body.ts';
import { recordFailure } from './record-failure.ts';
import { renewPrincipalAfter, routerContext } from './router-context.ts';

/** Serves the router over HTTP, with the rules of the JSON endpoints and tRPC's envelope. */
export async function trpcEndpoint(event: RequestEvent): Promise<Response> {
  try {
    return await fetchRequestHandler({
      endpoint: '/api/trpc',
      req: await toTrpcRequest(event),
      router: appRouter,
      allowBatching: false,
      createContext: () => routerContext(event.locals),
      onError: ({ error }) => recordFailure(event.locals, error),
      responseMeta: ({ errors }) => ({ headers: retryAfter(errors[0]) }),
    });
  } catch (error) {
    recordFailure(event.locals, error);
    return errorResponse(error, challengeHeaders(event.locals, error));
  }
}

/**
 * Returns the request with the content type JSON, because tRPC would accept forms and bytes as well. A
 * body that cannot be parsed becomes a stream that fails with the parse error: tRPC reads it
 * after the authorisation, and keeps the error as the cause.
 */
async function toTrpcRequest({ request, url, locals }: RequestEvent): Promise<Request> {
  const { signal } = request;
  const headers = { 'content-type': 'application/json' };
  if (request.method !== 'POST') return new Request(url, { headers, signal });

  const body = { headers: request.headers, readBytes: (maxBytes: number) => readRequestBytes(request, maxBytes) };
  const read = await renewPrincipalAfter(locals, () => readJsonText(body, bodyLimitOf(locals)));
  // The original text: serialising a deeply nested value again would overflow the stack.
  const sent = isAppError(read) ? new ReadableStream({ start: (stream) => stream.error(read) }) : read.text;
  return new Request(url, { method: 'POST', headers, body: sent, signal, duplex: 'half' } as RequestInit);
}

function retryAfter(error: Error | undefined): Headers {
  const seconds = error && toAppError(error).retryAfterSeconds;
  return new Headers(seconds === undefined ? {} : { 'retry-after': String(seconds) });
}
