import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '@gatehouse/api/app';
import { createCaller } from '@gatehouse/api/router/root';
import type { RequestEvent } from '@sveltejs/kit';
import { guardRequest } from '../guards/request-guard.ts';
import { rejectRequest } from '../http/reject-request.ts';
import { routerContext } from '../http/router-context.ts';
import { sessionActions } from '../session/cookies.ts';
import { resolvePrincipal } from '../session/resolve-principal.ts';

type Handler = (event: RequestEvent) => Response | Promise<Response>;

/** All endpoints that answer in JSON: the glob finds new ones. */
const modules = import.meta.glob<Record<string, Handler>>(
  ['../../../routes/{api,webhooks}/**/+server.ts', '../../../routes/?x+2e?well-known/**/+server.ts'],
  { eager: true },
);
const routes = Object.entries(modules)
  .map(([file, handlers]) => ({
    id: file.replace(/^.*routes(.*)\/\+server\.ts$/, '$1').replace('[x+2e]', '.'),
    handlers,
  }))
  .sort((one, other) => dynamic(one.id) - dynamic(other.id));

function dynamic(id: string): number {
  return (id.match(/\[\.\.\./g)?.length ?? 0) * 100 + (id.match(/\[/g)?.length ?? 0);
}

/** The endpoints as the document writes them: `get /api/usage/{meter}`. */
export const endpoints = routes
  .filter(({ id }) => !id.includes('[...'))
  .flatMap(({ id, handlers }) =>
    Object.keys(handlers).map((method) => `${method.toLowerCase()} ${id.replaceAll('[', '{').replaceAll(']', '}')}`),
  );

/**
 * Answers a request by the guard, the principal and the endpoint of its path, in the order of the hook. In
 * place of Kit stand the route and the cookies.
 */
export async function answer(app: App, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const set: string[] = [];
  const cookies = {
    get: (name: string) => cookieIn(request.headers.get('cookie') ?? '', name),
    set: (name: string, value: string) => set.push(`${name}=${value}; Path=/; HttpOnly`),
    delete: (name: string) => set.push(`${name}=; Path=/; Max-Age=0`),
  };
  const locals = {
    app,
    requestId: 'test',
    client: { address: '127.0.0.1', userAgent: 'test', knownBrowser: null },
  };
  const { handlers, params } = routeOf(url.pathname);
  const event = { request, url, cookies, locals, params, isDataRequest: false } as unknown as RequestEvent;

  try {
    event.locals.accepted = guardRequest(request, { pathname: url.pathname, isPageData: false }, app.config);
    event.locals.principal = await resolvePrincipal(event);
    event.locals.session = sessionActions(event);
    event.locals.api = createCaller(routerContext(event), { signal: request.signal });
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const response = (await (handlers[method] ?? handlers.fallback)?.(event)) ?? new Response(null, { status: 405 });
    for (const each of set) response.headers.append('set-cookie', each);
    return response;
  } catch (error) {
    return rejectRequest(event, error);
  }
}

/** Serves the endpoints on loopback, for a client that sends real requests. */
export async function serveEndpoints(app: App): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    const response = await answer(app, await requestFrom(incoming));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function requestFrom(incoming: IncomingMessage): Promise<Request> {
  const parts: Uint8Array[] = [];
  for await (const part of incoming) parts.push(part);
  const body = Buffer.concat(parts);
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(incoming.url ?? '/', 'http://localhost:3999'), {
    method: incoming.method ?? 'GET',
    headers,
    ...(body.length > 0 && { body }),
  });
}

function routeOf(pathname: string): { handlers: Record<string, Handler>; params: Record<string, string> } {
  for (const { id, handlers } of routes) {
    const names: string[] = [];
    const form = id.replace(/\[(\.\.\.)?(\w+)\]|[.]/g, (part, rest, name) => {
      if (part === '.') return '\\.';
      names.push(name);
      return rest ? '(.*)' : '([^/]+)';
    });
    const found = new RegExp(`^${form}$`).exec(pathname);
    if (found === null) continue;
    const params = names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')]);
    return { handlers, params: Object.fromEntries(params) };
  }
  return { handlers: {}, params: {} };
}

function cookieIn(header: string, name: string): string | undefined {
  const pairs = header.split(/;\s*/).map((pair) => pair.split('='));
  return pairs.find(([each]) => each === name)?.[1];
}
