import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Config } from '@gatehouse/api/config';
import { busyPage, busyPagePolicy } from './busy-page.ts';
import { canonicalise, pathOf } from './canonical-request.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;

export type HttpServer = {
  /** From now on requests go to the application. */
  serve(handler: Handler): void;
  /** Takes no new work, lets what is under way finish within 20 s, and closes. */
  drain(): Promise<void>;
};

const drainMilliseconds = 20_000;
const pollMilliseconds = 25;
const retrySeconds = 2;

/**
 * Listens at once. Until there is an application, and while it drains, every
 * request but GET /healthz is answered 503, a person's with a page. Throws a sentence when the address
 * cannot be had.
 */
export async function openHttpServer(config: Config): Promise<HttpServer> {
  const underWay = new Set<ServerResponse>();
  let application: Handler | null = null;

  const server = http.createServer((request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    // Static files never meet the application's hook.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (config.strictTransportSecurity !== null) {
      response.setHeader('Strict-Transport-Security', config.strictTransportSecurity);
    }
    answer(request, response);
  });
  // Longer than a proxy keeps an idle connection, so that it never sends into one that we just closed.
  server.keepAliveTimeout = 65_000;
  await listen(server, config);

  function answer(request: IncomingMessage, response: ServerResponse) {
    const target = pathOf(request.url ?? '');
    if (target === null) return refuse(response, 400, 'VALIDATION', 'The request line is not one of HTTP.');
    if (request.method === 'TRACE') return refuseMethod(response, 'GET, HEAD, POST, OPTIONS');
    if (target.split('?')[0] === '/healthz') return answerHealth(request, response);
    if (!application) return refuseBusy(request, response, config.service.name);

    request.url = target;
    canonicalise(request, config);
    return application(request, response, () => refuse(response, 404, 'NOT_FOUND', 'There is nothing here.'));
  }

  return {
    serve(handler) {
      application = handler;
    },
    async drain() {
      application = null;
      for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close');
      server.closeIdleConnections();
      const until = Date.now() + drainMilliseconds;
      while (underWay.size > 0 && Date.now() < until) await new Promise((wake) => setTimeout(wake, pollMilliseconds));

      server.close();
      server.closeAllConnections();
    },
  };
}

function answerHealth(request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response, 'GET, HEAD');

  send(response, 200, { ok: true });
}

function refuseMethod(response: ServerResponse, allow: string) {
  response.setHeader('Allow', allow);
  refuse(response, 405, 'METHOD_NOT_ALLOWED', 'This method is not there.');
}

function refuseBusy(request: IncomingMessage, response: ServerResponse, serviceName: string) {
  response.setHeader('Retry-After', String(retrySeconds));
  response.setHeader('Connection', 'close');
  if (!isForPerson(request)) {
    return refuse(response, 503, 'BUSY', 'The service is starting or ending. Try again in a moment.');
  }

  const isRead = request.method === 'GET' || request.method === 'HEAD';
  response.writeHead(503, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': busyPagePolicy,
  });
  response.end(busyPage(serviceName, { retrySeconds: isRead ? retrySeconds : null }));
}

/** Browsers name text/html where they open a page; the addresses below /api speak JSON to everybody. */
function isForPerson({ url = '', headers }: IncomingMessage): boolean {
  return !/^\/(api|webhooks)\//.test(url) && /\btext\/html\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(headers.accept ?? '');
}

function refuse(response: ServerResponse, status: number, code: string, error: string) {
  send(response, status, { error, code });
}

function send(response: ServerResponse, status: number, body: object) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}

function listen(server: http.Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(sentence(error, host, port), { cause: error })),
    );
    server.listen(port, host, resolve);
  });
}

function sentence(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} is in use: stop what listens there, or choose another with PORT=${port + 100}.`;
  if (error.code === 'EACCES') return `Port ${port} is not open to this user: choose one above 1023 with PORT=…`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `HOST is ${host}, which is no address of this machine.`;
  return `Port ${port} cannot be listened on: ${error.message}.`;
}
