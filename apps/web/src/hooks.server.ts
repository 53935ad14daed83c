import { randomUUID } from 'node:crypto';
import { type Handle, type HandleServerError, type ServerInit, sequence } from '@sveltejs/kit/hooks';
import { formHeader, locationHeader } from '#lib/page-script/headers.ts';
import { openApp, parseConfig, theApp } from '#lib/server/app.ts';
import { guardRequest, methodsOf } from '#lib/server/guards/request-guard.ts';
import { httpErrorOf } from '#lib/server/http/error-response.ts';
import { observeRequest } from '#lib/server/http/observe-request.ts';
import { recordFailure } from '#lib/server/http/record-failure.ts';
import { rejectRequest } from '#lib/server/http/reject-request.ts';
import { renderPage } from '#lib/server/http/render-page.ts';
import { openContext } from '#lib/server/http/router-context.ts';
import { addSecurityHeaders } from '#lib/server/http/security-headers.ts';
import { chooseLanguage, inLanguage } from '#lib/server/language/choose-language.ts';
import { createRestHandler, type RestHandler } from '#lib/server/rest/rest-handler.ts';
import { readCookie } from '#lib/server/session/cookies.ts';
import { rememberPageOfEndedSession } from '#lib/server/session/return-url.ts';

export const init: ServerInit = () => openApp();

// For apps/server, which opens the App before it loads Kit.
export { openApp, parseConfig };

/** Resolves to null while the database answers, else to the code of the reason. */
export function readiness(): Promise<string | null> {
  return theApp().databaseHealth.check();
}

/** The answers to the REST endpoints, which apps/server asks before Kit. */
export function restHandler(): RestHandler {
  return createRestHandler(theApp());
}

/** Writes the log line, span and metrics of a request to a page, and numbers it. */
const requestLog: Handle = async ({ event, resolve }) => {
  const { locals, request, cookies, route } = event;
  const app = theApp();
  locals.app = app;
  locals.requestId = randomUUID();
  locals.language = chooseLanguage(cookies, request.headers);

  const about = { method: request.method, route: route.id ?? 'none', headers: request.headers };
  const response = await observeRequest(locals, about, async () => resolve(event));
  response.headers.set('x-request-id', locals.requestId);
  // Pages cannot set it: Kit renders them from the status alone.
  if (response.status === 503 && !response.headers.has('retry-after')) response.headers.set('retry-after', '5');
  return response;
};

/** Every text and format of the answer follows the request's language. */
const language: Handle = ({ event, resolve }) => inLanguage(event.locals.language, () => resolve(event));

const securityHeaders: Handle = async ({ event, resolve }) => {
  const response = await resolve(event);
  addSecurityHeaders(event.locals.app, response.headers);
  return response;
};

/** Rejects a wrong method, too large a body and a foreign origin, in this order. */
const requestGuard: Handle = ({ event, resolve }) => {
  const { request, url, isDataRequest, locals } = event;
  try {
    const methods = methodsOf({ pathname: url.pathname, isPageData: isDataRequest }, locals.app.config);
    locals.accepted = guardRequest(request, { pathname: url.pathname, methods }, locals.app.config);
  } catch (thrown) {
    return rejectRequest(event, thrown);
  }
  return resolve(event);
};

const principal: Handle = async ({ event, resolve }) => {
  const { locals, cookies, url, request } = event;
  const { headers, signal } = request;
  const clientAddress = event.getClientAddress();
  try {
    await openContext(locals, { pathname: url.pathname, headers, cookies, clientAddress, signal });
  } catch (thrown) {
    locals.principal = null;
    return rejectRequest(event, thrown);
  }
  locals.sessionEnded = locals.principal === null && readCookie(locals.app, cookies, 'session') !== null;
  if (locals.sessionEnded) await rememberPageOfEndedSession(event);
  return renderPage(event, resolve);
};

/** Answers a form that the page script sent with 204 and a header in place of a redirect. The cookies stay. */
const scriptedForm: Handle = async ({ event, resolve }) => {
  const { request } = event;
  const response = await resolve(event);
  const location = response.headers.get('location');
  if (location === null || request.method !== 'POST' || !request.headers.has(formHeader)) return response;

  const headers = new Headers(response.headers);
  headers.delete('location');
  headers.set(locationHeader, location);
  return new Response(null, { status: 204, headers });
};

export const handle = sequence(requestLog, language, securityHeaders, requestGuard, principal, scriptedForm);

/** An AppError that no page caught keeps its status and message. Any other error is logged and shows a generic one. */
export const handleError: HandleServerError = ({ kind, error: caught, event }) => {
  const { requestId, app } = event.locals;
  if (kind !== 'unknown') return { requestId };

  const { status, body } = httpErrorOf(caught);
  if (app) recordFailure(event.locals, caught);
  return { status, message: body.error, requestId };
};
