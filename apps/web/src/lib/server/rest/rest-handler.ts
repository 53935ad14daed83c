import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { App as Service } from '@gatehouse/api/app';
import { AppError } from '@gatehouse/api/platform/errors';
import type { KeyedClient } from '@gatehouse/api/platform/security/client';
import { guardRequest } from '../guards/request-guard.ts';
import { challengeHeaders, httpErrorOf, rejectionHeaders } from '../http/error-response.ts';
import { observeRequest } from '../http/observe-request.ts';
import { tooLarge } from '../http/read-body.ts';
import { recordFailure } from '../http/record-failure.ts';
import { openContext } from '../http/router-context.ts';
import { apiHeaders } from '../http/security-headers.ts';
import { cookieJar } from '../session/cookies.ts';
import { findEndpoint, type RestRequest, type RouteMatch } from './endpoints.ts';

/** The path and query of a request, and its client, as the server has determined them. */
export type RequestTarget = { target: string; client: KeyedClient };

/** Answers a request to a REST endpoint; resolves when its work has ended. Returns null for any other path. */
export type RestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
) => Promise<void> | null;

/**
 * Answers requests to the REST endpoints with Node's own request and response. Kit's took about half of a
 * read's CPU (docs/decisions/038).
 */
export function createRestHandler(app: Service): RestHandler {
  const answerRest = createRest(app);

  return (request, response, { target, client }) => {
    const queryStart = target.indexOf('?');
    const pathname = queryStart === -1 ? target : target.slice(0, queryStart);
    if (!isRestPath(pathname)) return null;

    const abort = new AbortController();
    response.once('close', () => response.writableFinished || abort.abort());
    const cookies = cookieJar(request.headers.cookie);
    const answered = answerRest({
      method: request.method ?? 'GET',
      pathname,
      search: queryStart === -1 ? '' : target.slice(queryStart + 1),
      headers: { get: (name) => headerOf(request, name) },
      cookies,
      client,
      signal: abort.signal,
      message: request,
      readBytes: (maxBytes) => readMessageBytes(request, maxBytes),
    });
    return answered
      .then((answer) => send(response, answer, cookies.lines))
      .catch((error: unknown) => {
        app.log.error('an answer could not be sent', { error });
        response.destroy();
      });
  };
}

/** Whether a path belongs to the REST endpoints, known or not. /api/trpc is the typed router, /api/docs a page. */
export function isRestPath(pathname: string): boolean {
  if (pathname.startsWith('/api/')) {
    return !pathname.startsWith('/api/trpc/') && !/^\/api\/docs(\/|\/__data\.json)?$/.test(pathname);
  }
  return pathname.startsWith('/webhooks/') || pathname === '/.well-known/jwks.json';
}

/** The body is JSON. The names of headers are in lower case. */
export type RestAnswer = { status: number; headers: Record<string, string>; body: string };

/**
 * Answers requests to the REST endpoints with the steps of the hook: log line, span and metrics,
 * request guard, principal, endpoint. Never throws.
 */
export function createRest(app: Service): (request: RestRequest) => Promise<RestAnswer> {
  const commonHeaders = { 'content-type': 'application/json', ...apiHeaders(app.config) };

  return async function answerRest(request) {
    const match = findEndpoint(request.pathname);
    const locals = { app, requestId: randomUUID(), principal: null, sessionEnded: false } as unknown as App.Locals;
    const { status, headers, body } = await observeRequest(
      locals,
      { method: request.method, route: match.route, headers: request.headers },
      () => guardAndCall(request, locals, match),
    );
    return { status, headers: { ...commonHeaders, ...headers, 'x-request-id': locals.requestId }, body };
  };
}

async function guardAndCall(request: RestRequest, locals: App.Locals, match: RouteMatch): Promise<RestAnswer> {
  try {
    const endpoint = { pathname: request.pathname, methods: match.methods };
    locals.accepted = await guardRequest(request, endpoint, locals.app.config);
    await openContext(locals, request);
  } catch (error) {
    return errorAnswer(locals, error, rejectionHeaders(error, match.methods));
  }
  return callEndpoint(request, locals, match);
}

/** Calls the endpoint of the method for the principal in `locals`. An error becomes its JSON answer. */
export async function callEndpoint(request: RestRequest, locals: App.Locals, match: RouteMatch): Promise<RestAnswer> {
  try {
    const endpoint = match.byMethod[request.method];
    if (endpoint === undefined) throw new AppError('NOT_FOUND', 'There is no such path.');
    const { body, headers = {} } = await endpoint(request, locals, match.params);
    return { status: 200, headers, body: JSON.stringify(body) };
  } catch (error) {
    return errorAnswer(locals, error, challengeHeaders(locals, error));
  }
}

function errorAnswer(locals: App.Locals, error: unknown, headers: Record<string, string> = {}): RestAnswer {
  recordFailure(locals, error);
  const { status, body, retryAfterSeconds } = httpErrorOf(error);
  const seconds = retryAfterSeconds ?? (status === 503 ? 5 : null);
  if (seconds !== null) headers['retry-after'] = String(seconds);
  return { status, headers, body: JSON.stringify(body) };
}

function send(response: ServerResponse, { status, headers, body }: RestAnswer, cookies: string[]) {
  const sent: OutgoingHttpHeaders = headers;
  sent['content-length'] = Buffer.byteLength(body);
  if (cookies.length > 0) sent['set-cookie'] = cookies;
  response.writeHead(status, sent);
  response.end(body);
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

/** How many bytes of a body that is too large are read before the answer is sent. */
const maxReadBytes = 1024 * 1024;

/**
 * Reads a body of at most `maxBytes`. The rest of a larger one is discarded, because a client that is
 * still sending would lose the answer if the connection closed.
 *
 * @throws AppError TOO_LARGE if the body is larger, whatever Content-Length it announced; VALIDATION if
 *   the client disconnects before its end.
 */
function readMessageBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const endedEarly = () => reject(new AppError('VALIDATION', 'The body ended early.'));
    if (request.destroyed) return endedEarly();

    request.on('data', (part: Buffer) => {
      length += part.byteLength;
      if (length <= maxBytes) parts.push(part);
      else parts.length = 0;
      if (length > maxReadBytes) reject(tooLarge());
    });
    let hasEnded = false;
    request.once('end', () => {
      hasEnded = true;
      if (length > maxBytes) reject(tooLarge());
      else resolve(Buffer.concat(parts, length));
    });
    request.once('error', () => {});
    // Every request closes. After its end no code would read the error, whose stack takes 1 % of a webhook request's CPU.
    request.once('close', () => hasEnded || endedEarly());
  });
}
