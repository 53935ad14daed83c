import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '@gatehouse/api/app';
import { readRequestBytes } from '../http/read-body.ts';
import type { RestRequest } from '../rest/endpoints.ts';
import { endpoints as byPath } from '../rest/endpoints.ts';
import { createRest, createRestHandler } from '../rest/rest-handler.ts';
import { cookieJar } from '../session/cookies.ts';

/** The endpoints as the document writes them: `get /api/usage/{meter}`. */
export const endpoints = Object.entries(byPath).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toLowerCase()} ${path.replaceAll('[', '{').replaceAll(']', '}')}`),
);

/** Answers a request as the service does, without a connection. */
export async function answer(app: App, request: Request): Promise<Response> {
  const cookies = cookieJar(request.headers.get('cookie') ?? undefined);
  const { status, headers, body } = await createRest(app)(restRequestOf(request, cookies));
  const response = new Response(request.method === 'HEAD' ? null : body, { status, headers });
  for (const line of cookies.lines) response.headers.append('set-cookie', line);
  return response;
}

export function restRequestOf(request: Request, cookies: RestRequest['cookies']): RestRequest {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    pathname,
    search: search.slice(1),
    headers: request.headers,
    cookies,
    client: { address: '127.0.0.1' },
    signal: request.signal,
    message: { complete: true },
    readBytes: (maxBytes) => readRequestBytes(request, maxBytes),
  };
}

/** Serves the endpoints on loopback, for a client that sends real requests. */
export async function serveEndpoints(app: App): Promise<{ url: string; close: () => Promise<void> }> {
  const handle = createRestHandler(app);
  const server = createServer((request, response) => {
    const target = { target: request.url ?? '/', client: { address: '127.0.0.1' } };
    if (handle(request, response, target) === null) response.writeHead(404).end();
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
