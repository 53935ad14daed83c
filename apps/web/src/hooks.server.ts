import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '@gatehouse/api/app';
import type { RequestEvent } from '@sveltejs/kit';
import type { Handle, HandleServerError, ServerInit } from '@sveltejs/kit/hooks';
import { readLanguageFrom } from '#lib/language/language.ts';
import { formHeader, locationHeader } from '#lib/page-script/headers.ts';
import { openApp as openOnce, parseConfig } from '#lib/server/app.ts';
import { guardRequest, methodsOf } from '#lib/server/guards/request-guard.ts';
import { httpErrorOf } from '#lib/server/http/error-response.ts';
import { observeRequest } from '#lib/server/http/observe-request.ts';
import { readRequestBytes } from '#lib/server/http/read-body.ts';
import { recordFailure } from '#lib/server/http/record-failure.ts';
import { rejectRequest } from '#lib/server/http/reject-request.ts';
import {
  type HtmlParts,
  type Page,
  pageOf,
  sendPage,
  visitorPage,
  writeLanguageAndTheme,
} from '#lib/server/http/render-page.ts';
import { hasRecentToken, openContext } from '#lib/server/http/router-context.ts';
import { apiHeaders, policyOfPage } from '#lib/server/http/security-headers.ts';
import { languageOf } from '#lib/server/language/choose-language.ts';
import { createRestHandler, type RequestTarget, type RestHandler } from '#lib/server/rest/rest-handler.ts';
import { readCookie } from '#lib/server/session/cookies.ts';
import { rememberPageOfEndedSession } from '#lib/server/session/return-url.ts';
import { getRequestEvent } from '$app/server';

/** The service, and the security headers of every answer. `openApp` sets them before the first request. */
let app: App;
let securityHeaders: [name: string, value: string][];

export async function openApp(settings?: Parameters<typeof openOnce>[0]): Promise<void> {
  app = await openOnce(settings);
  securityHeaders = Object.entries(apiHeaders(app.config));
}

export const init: ServerInit = () => openApp();

// For apps/server, which opens the App before it loads Kit, and wraps Kit's handler.
export { parseConfig };

/** Resolves to null while the database answers, else to the code of the reason. */
export function readiness(): Promise<string | null> {
  return app.databaseHealth.check();
}

/** Whether a request has a session or an API key that was valid recently in this process. */
export function isRecent(headers: IncomingHttpHeaders): boolean {
  return hasRecentToken(app, headers);
}

/** Counts a request that apps/server refused, because too many of its class were open. */
export function countRefusal(requestClass: string): void {
  app.metrics.count('gatehouse_overload_refusals_total', { class: requestClass });
}

/** Returns the handler of the REST endpoints, to which apps/server passes each request before Kit. */
export function restHandler(): RestHandler {
  return createRestHandler(app);
}

/** What apps/server knows of a request: its client, and a function that resolves when its route may be run. */
type PageRequest = Pick<RequestTarget, 'client'> & { nextTurn: () => Promise<void> };
type Exchange = PageRequest & { response: ServerResponse };
type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;
type PagesHandler = (...args: [...Parameters<Handler>, page: PageRequest]) => unknown;
type WithExchange = IncomingMessage & { [exchange]?: Exchange };

const exchange = Symbol('exchange');

/** Makes Node's response and the client known to the hook. adapter-node passes the request alone to Kit. */
export function writingPages(handler: Handler): PagesHandler {
  return (request: WithExchange, response, next, page) => {
    request[exchange] = { response, ...page };
    return handler(request, response, next);
  };
}

function exchangeOf({ platform }: RequestEvent): Exchange | undefined {
  return (platform?.req as WithExchange | undefined)?.[exchange];
}

/** Every text and format of an answer follows its request's language, which is chosen for the first of them. */
readLanguageFrom(() => {
  const { locals, cookies, request } = getRequestEvent();
  return languageOf(locals, { cookies, headers: request.headers });
});

/**
 * Answers a request that reaches Kit: gives it an id, writes its log line, span and metrics, and adds the headers of
 * every answer. It is one function in place of Kit's `sequence`, which opens a span and a context for each step.
 */
export const handle: Handle = async ({ event, resolve }) => {
  const { locals, request, route } = event;
  locals.app = app;
  locals.requestId = randomUUID();
  locals.nextTurn = exchangeOf(event)?.nextTurn;

  const observed = { method: request.method, route: route.id ?? 'none', headers: request.headers };
  const response = await observeRequest(locals, observed, () => answer(event, resolve));
  const { headers } = response;
  const policy = headers.get('content-security-policy');
  if (policy !== null) headers.set('content-security-policy', policyOfPage(policy, app.config));
  for (const [name, value] of securityHeaders) if (!headers.has(name)) headers.set(name, value);
  headers.set('x-request-id', locals.requestId);
  // Pages cannot set it: Kit renders them from the status alone.
  if (response.status === 503 && !headers.has('retry-after')) headers.set('retry-after', '5');
  return response;
};

type Resolve = Parameters<Handle>[0]['resolve'];

/** Answers a request by its route, unless its method, body size, origin or API key is refused; checked in this order. */
async function answer(event: RequestEvent, resolve: Resolve): Promise<Response> {
  const { locals, cookies, url, request, isDataRequest } = event;
  const { pathname } = url;
  const { method, headers, signal } = request;
  try {
    const methods = methodsOf({ pathname, isPageData: isDataRequest }, locals.app.config);
    const readBytes = (maxBytes: number) => readRequestBytes(request, maxBytes);
    locals.accepted = await guardRequest({ method, headers, readBytes }, { pathname, methods }, locals.app.config);
    // The development server passes no client.
    const client = exchangeOf(event)?.client ?? { address: event.getClientAddress() };
    const message = event.platform?.req;
    await openContext(locals, { method, pathname, headers, cookies, client, signal, message });
  } catch (thrown) {
    locals.principal ??= null;
    return rejectRequest(event, thrown);
  }
  locals.sessionEnded = locals.principal === null && readCookie(locals.app, cookies, 'session') !== null;
  if (locals.sessionEnded) await rememberPageOfEndedSession(event);
  return redirectInHeader(request, await answerRoute(event, resolve));
}

/** The routes of the pages that may be the same for every visitor. */
const visitorRoutes = ['/login', '/signup'];

/** Runs the route, and sends the page that it rendered. Any other response, such as a redirect, is returned as it is. */
async function answerRoute(event: RequestEvent, resolve: Resolve): Promise<Response> {
  const render = () => inTurn(event, resolve);
  const answered = await (visitorRoutes.includes(event.route.id ?? '') ? visitorPage(event, render) : render());
  return answered instanceof Response ? answered : sendPage(answered, exchangeOf(event)?.response);
}

/** The status that is logged where a client disconnected before its route was run; nginx uses the same. */
const closedByClient = 499;

/**
 * Runs the route in a turn of the server (docs/decisions/041): the database may answer many requests at once.
 * Kit would hash a page for an ETag that no request can match, copy it twice, and pass it on by a stream: a tenth of
 * the CPU of a page of 28 kB. So Kit gets an empty text in place of the page (docs/decisions/042).
 */
async function inTurn(event: RequestEvent, resolve: Resolve): Promise<Response | Page> {
  await event.locals.nextTurn?.();
  const { method, signal } = event.request;
  // A form is processed in any case: its sender may have closed the tab.
  if (signal.aborted && (method === 'GET' || method === 'HEAD')) return new Response(null, { status: closedByClient });

  let html: HtmlParts | undefined;
  function transformPageChunk(chunk: { html: string }): string {
    html = writeLanguageAndTheme(event, chunk.html);
    return import.meta.env.DEV ? html.join('') : '';
  }
  const response = await resolve(event, { transformPageChunk });
  return html === undefined || import.meta.env.DEV ? response : pageOf(response, html);
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

  const { status, body } = httpErrorOf(caught);
  if (opened) recordFailure(event.locals, caught);
  return { status, message: body.error, requestId };
};
