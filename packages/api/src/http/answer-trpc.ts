import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { isAppError, toAppError } from '../platform/errors.ts';
import { appRouter } from '../router/root.ts';
import { recordFailure } from './error-response.ts';
import { routerContext } from './open-request.ts';
import { parseJson } from './read-body.ts';
import type { EndpointAnswer, EndpointRequest, RequestState } from './request.ts';

/** Answers a call of the typed router over HTTP, with the rules of the JSON endpoints and tRPC's envelope. */
export async function answerTrpc(state: RequestState, request: EndpointRequest): Promise<EndpointAnswer> {
  const response = await fetchRequestHandler({
    endpoint: '/api/trpc',
    req: toTrpcRequest(state, request),
    router: appRouter,
    allowBatching: false,
    createContext: () => routerContext(state),
    onError: ({ error }) => recordFailure(state, error),
    responseMeta: ({ errors }) => ({ headers: retryAfter(errors[0]) }),
  });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/**
 * Returns the request with the content type JSON, because tRPC would accept forms and bytes as well. A
 * body that cannot be parsed becomes a stream that fails with the parse error: tRPC reads it
 * after the authorisation, and keeps the error as the cause.
 */
function toTrpcRequest(
  { body }: RequestState,
  { method, pathname, search, headers, signal }: EndpointRequest,
): Request {
  const url = new URL(`http://localhost${pathname}?${search}`);
  const init = { headers: { 'content-type': 'application/json' }, signal };
  if (method !== 'POST') return new Request(url, init);

  const read = parseJson(body, headers.get('content-type'));
  // The original text: serialising a deeply nested value again would overflow the stack.
  const sent = isAppError(read) ? new ReadableStream({ start: (stream) => stream.error(read) }) : read.text;
  return new Request(url, { ...init, method, body: sent, duplex: 'half' } as RequestInit);
}

function retryAfter(error: Error | undefined): Headers {
  const seconds = error && toAppError(error).retryAfterSeconds;
  return new Headers(seconds === undefined ? {} : { 'retry-after': String(seconds) });
}
