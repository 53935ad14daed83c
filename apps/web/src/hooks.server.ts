import { randomUUID } from 'node:crypto';
import { createCaller } from '@gatehouse/api/router/root';
import { type Handle, type HandleServerError, type ServerInit, sequence } from '@sveltejs/kit/hooks';
import { openApp, theApp } from '#lib/server/app.ts';
import { guardRequest } from '#lib/server/guards/request-guard.ts';
import { httpErrorOf } from '#lib/server/http/error-response.ts';
import { redirectInHeader } from '#lib/server/http/form-redirect.ts';
import { countRequest, tracedRequest } from '#lib/server/http/measure-request.ts';
import { failureOfStatus, recordFailure } from '#lib/server/http/record-failure.ts';
import { rejectRequest } from '#lib/server/http/reject-request.ts';
import { routerContext } from '#lib/server/http/router-context.ts';
import { addSecurityHeaders } from '#lib/server/http/security-headers.ts';
import { chooseLanguage, inLanguage } from '#lib/server/language/choose-language.ts';
import { readCookie, sessionActions } from '#lib/server/session/cookies.ts';
import { resolvePrincipal } from '#lib/server/session/resolve-principal.ts';
import { rememberPageOfEndedSession } from '#lib/server/session/return-url.ts';
import { readTheme, writeFrame } from '#lib/server/session/theme.ts';

export const init: ServerInit = openApp;

/**
 * Writes the log line, span and metrics of a request. They contain no query, header or body, so no
 * secrets; the line names user and organisation by pseudonyms, and a refusal by its code.
 */
const requestLog: Handle = async ({ event, resolve }) => {
  const app = theApp();
  const started = performance.now();
  const requestId = randomUUID();
  event.locals.app = app;
  event.locals.requestId = requestId;
  event.locals.language = chooseLanguage(event.cookies, event.request.headers);
  event.locals.client = {
    address: event.getClientAddress(),
    userAgent: event.request.headers.get('user-agent'),
    knownBrowser: readCookie(app, event.cookies, 'known'),
    language: event.locals.language,
  };

  const about = { requestId, method: event.request.method, route: event.route.id ?? 'none' };
  const response = await tracedRequest(app, about, event.request.headers, () => resolve(event));
  response.headers.set('x-request-id', requestId);
  // Pages cannot set it: Kit renders them from the status alone.
  if (response.status === 503 && !response.headers.has('retry-after')) response.headers.set('retry-after', '5');
  const milliseconds = performance.now() - started;
  app.log.info('request', {
    ...about,
    status: response.status,
    milliseconds: Math.round(milliseconds),
    ...whoOf(event.locals),
    ...(response.status >= 400 && (event.locals.failure ?? failureOfStatus(response.status))),
  });
  countRequest(app, about, { status: response.status, milliseconds });
  return response;
};

/** The user and organisation of a request by their pseudonyms; the API key by its id, which does not authenticate. */
function whoOf({ app, principal }: App.Locals) {
  if (!principal) return {};
  const { organisationId } = principal;
  return {
    ...(principal.kind === 'user' ? { user: app.pseudonymOf(principal.user.id) } : { key: principal.key.id }),
    ...(organisationId !== null && { organisation: app.pseudonymOf(organisationId) }),
  };
}

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
    locals.accepted = guardRequest(request, { pathname: url.pathname, isPageData: isDataRequest }, locals.app.config);
  } catch (thrown) {
    return rejectRequest(event, thrown);
  }
  return resolve(event);
};

const principal: Handle = async ({ event, resolve }) => {
  const { locals, cookies } = event;
  const { app } = locals;
  try {
    locals.principal = await resolvePrincipal(event);
  } catch (thrown) {
    locals.principal = null;
    return rejectRequest(event, thrown);
  }
  locals.sessionEnded = locals.principal === null && readCookie(app, cookies, 'session') !== null;
  locals.session = sessionActions(event);
  locals.api = createCaller(routerContext(event), { signal: event.request.signal });
  if (locals.sessionEnded) await rememberPageOfEndedSession(event);

  const transformPageChunk = ({ html }: { html: string }) =>
    writeFrame(html, { language: locals.language, theme: readTheme(cookies) });
  return resolve(event, { transformPageChunk });
};

const scriptedForm: Handle = async ({ event, resolve }) => redirectInHeader(event.request, await resolve(event));

export const handle = sequence(requestLog, language, securityHeaders, requestGuard, principal, scriptedForm);

/** An AppError that no page caught keeps its status and message. Any other error is logged and shows a generic one. */
export const handleError: HandleServerError = ({ kind, error: caught, event }) => {
  const { requestId, app } = event.locals;
  if (kind !== 'unknown') return { requestId };

  const { status, body } = httpErrorOf(caught);
  if (app) recordFailure(event.locals, caught);
  return { status, message: body.error, requestId };
};
