import { createCaller } from '@gatehouse/api/router/root';
import type { TestApp } from '@gatehouse/api/testing/app';
import { testClient } from '@gatehouse/api/testing/factories';
import type { RequestEvent } from '@sveltejs/kit';
import { guardRequest } from '../guards/request-guard.ts';
import { rejectRequest } from '../http/reject-request.ts';
import { routerContext } from '../http/router-context.ts';
import { sessionActions } from '../session/cookies.ts';
import { resolvePrincipal } from '../session/resolve-principal.ts';

type Handlers = Record<string, (event: RequestEvent) => Promise<Response>>;

const modules = import.meta.glob<Handlers>('../../../routes/api/**/+server.ts', { eager: true });
/** The REST routes, those without a parameter first, as Kit sorts them. */
const routes = Object.entries(modules)
  .map(([file, handlers]) => {
    const path = file.replace(/^.*routes(.*)\/\+server\.ts$/, '$1');
    return { pattern: new RegExp(`^${path.replace(/\[(\w+)\]/g, '(?<$1>[^/]+)')}$`), path, handlers };
  })
  .filter(({ path }) => !path.includes('[...'))
  .sort((one, other) => Number(one.path.includes('[')) - Number(other.path.includes('[')));

type Asked = { key?: string; body?: unknown; headers?: Record<string, string>; cookies?: Record<string, string> };

// biome-ignore lint/suspicious/noExplicitAny: the tests look at any answer.
export type Answer = { status: number; body: any; headers: Headers };

/** Sends a request through the guard, the principal and the route, as the hook does. */
export async function askRest(test: TestApp, method: string, path: string, asked: Asked = {}): Promise<Answer> {
  const answer = await answerTo(test, method, path, asked);
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : JSON.parse(text), headers: answer.headers };
}

async function answerTo(test: TestApp, method: string, path: string, asked: Asked): Promise<Response> {
  const { key, body, headers = {}, cookies = {} } = asked;
  const url = new URL(path, 'http://localhost:3999');
  const request = new Request(url, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const locals = { app: test.app, requestId: 'test', client: testClient } as unknown as App.Locals;
  const jar = { get: (name: string) => cookies[name], set: () => {}, delete: () => {} };
  const event = { request, url, locals, cookies: jar } as unknown as RequestEvent;
  try {
    event.locals.accepted = guardRequest(request, { pathname: url.pathname, isPageData: false }, test.app.config);
    locals.principal = await resolvePrincipal(event);
  } catch (error) {
    return rejectRequest(event, error);
  }
  locals.session = sessionActions(event);
  locals.api = createCaller(routerContext(event));

  for (const { pattern, handlers } of routes) {
    const found = pattern.exec(url.pathname);
    if (found === null) continue;
    const params = Object.fromEntries(Object.entries(found.groups ?? {}).map(([k, v]) => [k, decodeURIComponent(v)]));
    const handler = handlers[method];
    if (handler !== undefined) return handler({ ...event, params } as RequestEvent);
  }
  throw new Error(`There is no route ${method} ${path}.`);
}
