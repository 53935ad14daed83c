import type { App } from '@gatehouse/api/app';
import { openApp } from '@gatehouse/api/create-app';
import { readCookie } from '@gatehouse/api/http/cookies';
import { httpErrorOf, recordFailure } from '@gatehouse/api/http/error-response';
import { observeRequest } from '@gatehouse/api/http/observe-request';
import { keepSharedCookie, newRequestState, openRequest } from '@gatehouse/api/http/open-request';
import { apiHeaders, policyOfPage } from '@gatehouse/api/http/security-headers';
import type { RequestEvent } from '@sveltejs/kit';
import type { Handle, HandleServerError, ServerInit } from '@sveltejs/kit/hooks';
import { readLanguageFrom } from '#lib/language/language.ts';
import { formHeader, locationHeader } from '#lib/page-script/headers.ts';
import { methodsOf, rejectRequest } from '#lib/server/http/reject-request.ts';
import { pageErrorOf } from '#lib/server/language/page-error.ts';
import { writeLanguageAndTheme } from '#lib/server/page-html.ts';
import { languageOf, requestSourceOf } from '#lib/server/request-source.ts';
import { rememberPageOfEndedSession } from '#lib/server/session/return-url.ts';
import { visitorPage } from '#lib/server/visitor-pages.ts';
import { getRequestEvent } from '$app/server';

/** The App, and the security headers of every answer. `init` sets them before the first request. */
let app: App;
let securityHeaders: [name: string, value: string][];

/** Awaits the App that apps/server creates. */
export const init: ServerInit = async () => {
  app = await openApp();
  securityHeaders = Object.entries(apiHeaders(app.config));
};

/** Every text and format of an answer follows its request's language, which is chosen for the first of them. */
readLanguageFrom(() => languageOf(getRequestEvent()));

/**
 * Answers a request that reaches Kit: gives it an id, writes its log line, span and metrics, and adds the headers of
 * every answer.
 */
export const handle: Handle = async ({ event, resolve }) => {
  const { locals, request, route } = event;
  Object.assign(locals, newRequestState(app));

  const observed = { method: request.method, route: route.id ?? 'none', headers: request.headers };
  const response = await observeRequest(locals, observed, () => answer(event, resolve));
  const { headers } = response;
  const policy = headers.get('content-security-policy');
  if (policy !== null) headers.set('content-security-policy', policyOfPage(policy, app.config));
  // Kit names none, and a browser would guess it where the page's own element comes late.
  if (headers.get('content-type') === 'text/html') headers.set('content-type', 'text/html; charset=utf-8');
  for (const [name, value] of securityHeaders) if (!headers.has(name)) headers.set(name, value);
  headers.set('x-request-id', locals.requestId);
  // Pages cannot set it: Kit renders them from the status alone.
  if (response.status === 503 && !headers.has('retry-after')) headers.set('retry-after', '5');
  return response;
};

type Resolve = Parameters<Handle>[0]['resolve'];

/** Answers a request by its route, unless its method, body size, origin or API key is refused; checked in this order. */
async function answer(event: RequestEvent, resolve: Resolve): Promise<Response> {
  const { locals, cookies, request, isDataRequest } = event;
  try {
    await openRequest(locals, requestSourceOf(event), methodsOf(event));
  } catch (thrown) {
    return rejectRequest(event, thrown);
  }
  locals.sessionEnded =
    locals.principal === null && !locals.stepPending && readCookie(app, cookies, 'session') !== null;
  if (locals.sessionEnded) await rememberPageOfEndedSession(event);
  if (!isDataRequest) await keepSharedCookie(locals, cookies, request);
  return redirectInHeader(request, await visitorPage(event, () => render(event, resolve)));
}

async function render(event: RequestEvent, resolve: Resolve): Promise<Response> {
  return resolve(event, { transformPageChunk: ({ html }) => writeLanguageAndTheme(event, html) });
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
  const { requestId, app: opened } = event.locals;
  if (kind !== 'unknown') return { requestId };

  // Without the App there is no language to choose from.
  const { status, body } = opened ? pageErrorOf(caught) : httpErrorOf(caught);
  if (opened) recordFailure(event.locals, caught);
  return { status, message: body.error, requestId };
};
