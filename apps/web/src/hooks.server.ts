import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestEvent } from '@sveltejs/kit';
import type { Handle, HandleServerError, ServerInit } from '@sveltejs/kit/hooks';
import { formHeader, locationHeader } from '#lib/page-script/headers.ts';
import { openApp, parseConfig, theApp } from '#lib/server/app.ts';
import { guardRequest, methodsOf } from '#lib/server/guards/request-guard.ts';
import { httpErrorOf } from '#lib/server/http/error-response.ts';
import { observeRequest } from '#lib/server/http/observe-request.ts';
import { recordFailure } from '#lib/server/http/record-failure.ts';
import { rejectRequest } from '#lib/server/http/reject-request.ts';
import { exchangeOf, type Resolve, renderPage, writingPages } from '#lib/server/http/render-page.ts';
import { hasRecentToken, openContext } from '#lib/server/http/router-context.ts';
import { addSecurityHeaders } from '#lib/server/http/security-headers.ts';
import { chooseLanguage, inLanguage } from '#lib/server/language/choose-language.ts';
import { createRestHandler, type RestHandler } from '#lib/server/rest/rest-handler.ts';
import { readCookie } from '#lib/server/session/cookies.ts';
import { rememberPageOfEndedSession } from '#lib/server/session/return-url.ts';

export const init: ServerInit = () => openApp();

// For apps/server, which opens the App before it loads Kit, and wraps Kit's handler.
export { openApp, parseConfig, writingPages };

/** Resolves to null while the database answers, else to the code of the reason. */
export function readiness(): Promise<string | null> {
  return theApp().databaseHealth.check();
}

/** Whether a request has a session or an API key that was valid recently in this process. */
export function isRecent(headers: IncomingHttpHeaders): boolean {
  return hasRecentToken(theApp(), headers);
}

/** Counts a request that apps/server refused, because too many of its class were open. */
export function countRefusal(kind: string): void {
  theApp().metrics.count('gatehouse_overload_refusals_total', { class: kind });
}

/** The answers to the REST endpoints, which apps/server asks before Kit. */
export function restHandler(): RestHandler {
  return createRestHandler(theApp());
}

/**
 * Answers a request to a page: log line, span and metrics around its answer, with a number. One function in place of
 * Kit's `sequence`, which opens a span and a context for each of its steps.
 */
export const handle: Handle = async ({ event, resolve }) => {
  const { locals, request, cookies, route } = event;
  const app = theApp();
  locals.app = app;
  locals.requestId = randomUUID();
  locals.language = chooseLanguage(cookies, request.headers);
  locals.nextTurn = exchangeOf(event)?.nextTurn;

  const about = { method: request.method, route: route.id ?? 'none', headers: request.headers };
  // Every text and format of the answer follows the request's language.
  const response = await observeRequest(locals, about, () => inLanguage(locals.language, () => answer(event, resolve)));
  const { headers } = response;
  addSecurityHeaders(app, headers);
  headers.set('x-request-id', locals.requestId);
  // Pages cannot set it: Kit renders them from the status alone.
  if (response.status === 503 && !headers.has('retry-after')) headers.set('retry-after', '5');
  return response;
};

/** Rejects a wrong method, too large a body, a foreign origin and an unknown API key, in this order. */
async function answer(event: RequestEvent, resolve: Resolve): Promise<Response> {
  const { locals, cookies, url, request, isDataRequest } = event;
  const { pathname } = url;
  const { headers, signal } = request;
  try {
    const methods = methodsOf({ pathname, isPageData: isDataRequest }, locals.app.config);
    locals.accepted = guardRequest(request, { pathname, methods }, locals.app.config);
    await openContext(locals, { pathname, headers, cookies, clientAddress: event.getClientAddress(), signal });
  } catch (thrown) {
    locals.principal ??= null;
    return rejectRequest(event, thrown);
  }
  locals.sessionEnded = locals.principal === null && readCookie(locals.app, cookies, 'session') !== null;
  if (locals.sessionEnded) await rememberPageOfEndedSession(event);
  return redirectInHeader(request, await renderPage(event, resolve));
}

/** Answers a form that the page script sent with 204 and a header in place of a redirect. The cookies stay. */
function redirectInHeader(request: Request, response: Response): Response {
  const location = response.headers.get('location');
  if (location === null || request.method !== 'POST' || !request.headers.has(formHeader)) return response;

  const headers = new Headers(response.headers);
  headers.delete('location');
  headers.set(locationHeader, location);
  return new Response(null, { status: 204, headers });
}

/** An AppError that no page caught keeps its status and message. Any other error is logged and shows a generic one. */
export const handleError: HandleServerError = ({ kind, error: caught, event }) => {
  const { requestId, app } = event.locals;
  if (kind !== 'unknown') return { requestId };

  const { status, body } = httpErrorOf(caught);
  if (app) recordFailure(event.locals, caught);
  return { status, message: body.error, requestId };
};
