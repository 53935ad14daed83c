import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '@gatehouse/api/app';
import { createEndpoints } from '@gatehouse/api/http/answer-endpoint';
import { chooseLanguage } from '@gatehouse/api/http/choose-language';
import { cookieJar } from '@gatehouse/api/http/cookies';
import { readBody } from '@gatehouse/api/http/read-body';
import type { EndpointRequest } from '@gatehouse/api/http/request';
import { createApi } from '../api.ts';

/** Answers a request as the service does, without a connection. */
export async function answer(app: App, request: Request): Promise<Response> {
  const cookies = cookieJar(request.headers.get('cookie') ?? undefined);
  const { status, headers, body } = await createEndpoints(app)(endpointRequestOf(app, request, cookies));
  const response = new Response(request.method === 'HEAD' ? null : body, { status, headers });
  for (const line of cookies.lines) response.headers.append('set-cookie', line);
  return response;
}

export function endpointRequestOf(app: App, request: Request, cookies: EndpointRequest['cookies']): EndpointRequest {
  const { pathname, search } = new URL(request.url);
  const { method, headers, signal } = request;
  return {
    method,
    pathname,
    search: search.slice(1),
    headers,
    cookies,
    client: { address: '127.0.0.1' },
    signal,
    language: () => chooseLanguage(app, { cookies, headers }),
    readBytes: (maxBytes) => readBody(request.body, maxBytes),
  };
}

/** Serves the endpoints on loopback, for a client that sends real requests. */
export async function serveEndpoints(app: App): Promise<{ url: string; close: () => Promise<void> }> {
  const handle = createApi(app);
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
