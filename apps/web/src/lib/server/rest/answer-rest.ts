import { randomUUID } from 'node:crypto';
import type { App as Service } from '@gatehouse/api/app';
import { AppError } from '@gatehouse/api/errors';
import { createCaller } from '@gatehouse/api/router/root';
import { guardRequest } from '../guards/request-guard.ts';
import { httpErrorOf, rejectionHeaders } from '../http/error-response.ts';
import { clientOf, observeRequest } from '../http/observe-request.ts';
import { recordFailure } from '../http/record-failure.ts';
import { routerContext, sessionActions } from '../http/router-context.ts';
import { apiHeaders } from '../http/security-headers.ts';
import { chooseLanguage } from '../language/choose-language.ts';
import { resolvePrincipal } from '../session/resolve-principal.ts';
import type { RestRequest } from './endpoints.ts';
import { type Found, findEndpoint } from './find-endpoint.ts';

/** The body is JSON. The names of headers are in lower case. */
export type RestAnswer = { status: number; headers: Record<string, string>; body: string };

/**
 * Answers requests to the REST endpoints with the steps of the hook: log line, span and metrics,
 * request guard, principal, endpoint. Never throws.
 */
export function createRest(app: Service): (request: RestRequest) => Promise<RestAnswer> {
  const headersOfAll = apiHeaders(app.config);

  return async function answerRest(request) {
    const found = findEndpoint(request.pathname);
    const language = chooseLanguage(request.cookies, request.headers);
    const client = clientOf(app, request, { address: request.clientAddress, language });
    const locals = { app, requestId: randomUUID(), client, language, principal: null, sessionEnded: false } as unknown;
    const answer = await observeRequest(
      locals as App.Locals,
      { method: request.method, route: found.route, headers: request.headers },
      () => guarded(request, locals as App.Locals, found),
    );
    Object.assign(answer.headers, {
      ...headersOfAll,
      ...answer.headers,
      'x-request-id': (locals as App.Locals).requestId,
    });
    return answer;
  };
}

async function guarded(request: RestRequest, locals: App.Locals, found: Found): Promise<RestAnswer> {
  try {
    locals.accepted = guardRequest(request, { pathname: request.pathname, methods: found.methods }, locals.app.config);
    locals.principal = await resolvePrincipal({ ...request, locals });
  } catch (error) {
    return failed(locals, error, rejectionHeaders(error, found.methods));
  }
  locals.session = sessionActions({ locals, cookies: request.cookies });
  locals.api = createCaller(routerContext({ locals }), { signal: request.signal });
  return callEndpoint(request, locals, found);
}

/** Calls the endpoint of the method for the principal in `locals`. An error becomes its JSON answer. */
export async function callEndpoint(request: RestRequest, locals: App.Locals, found: Found): Promise<RestAnswer> {
  try {
    const endpoint = found.byMethod[request.method];
    if (endpoint === undefined) throw new AppError('NOT_FOUND', 'There is no such path.');
    const { body, headers = {} } = await endpoint(request, locals, found.params);
    return { status: 200, headers, body: JSON.stringify(body) };
  } catch (error) {
    return failed(locals, error);
  }
}

function failed(locals: App.Locals, error: unknown, headers: Record<string, string> = {}): RestAnswer {
  recordFailure(locals, error);
  const { status, body, retryAfterSeconds } = httpErrorOf(error);
  const seconds = retryAfterSeconds ?? (status === 503 ? 5 : null);
  if (seconds !== null) headers['retry-after'] = String(seconds);
  return { status, headers, body: JSON.stringify(body) };
}
