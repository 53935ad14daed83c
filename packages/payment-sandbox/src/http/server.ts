import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendPage, sendText } from './answer.ts';
import { html } from './html.ts';
import { page } from './page.ts';
import { type Exchange, HttpError } from './request.ts';

/** Answers a request, or returns false if the path belongs to another handler. */
export type Handler = (exchange: Exchange) => Promise<boolean> | boolean;

export interface RunningServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Listens on the loopback address only and passes each request to the first handler that
 * accepts its path. An HttpError is answered with its status. Any other error in a handler becomes a 500
 * with its message, because the reader is a developer; it never ends the process.
 *
 * @throws Error EADDRINUSE if the port is in use.
 */
export async function startServer(port: number, handlers: Handler[]): Promise<RunningServer> {
  const server = createServer((req, res) => {
    req.on('error', () => {});
    res.on('error', () => {});
    answer(req, res, handlers).catch((error: unknown) => sendError(req, res, error));
  });
  // A switch can leave requests unanswered, so the server has no timeout.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(req: IncomingMessage, res: ServerResponse, handlers: Handler[]): Promise<void> {
  if (!isLoopbackHost(req.headers.host)) throw new HttpError(403, 'The sandbox answers on localhost only.');
  if (isForeignForm(req)) throw new HttpError(403, 'Another site may not act in the sandbox.');
  const target = parseTarget(req.url ?? '/');
  const exchange: Exchange = {
    req,
    res,
    method: req.method ?? 'GET',
    path: target.pathname,
    query: target.searchParams,
  };
  for (const handler of handlers) if (await handler(exchange)) return;
  throw new HttpError(404, 'There is no such page in the sandbox.');
}

/** Prevents DNS rebinding: a foreign name that resolves to this machine gets 403. */
function isLoopbackHost(host: string | undefined): boolean {
  return /^(localhost|127\.0\.0\.1)(:\d+)?$/i.test(host ?? '');
}

/** Prevents cross-site requests: a page of another site must not post forms here. */
function isForeignForm({ method, headers }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD' && headers['sec-fetch-site'] === 'cross-site';
}

function parseTarget(target: string): URL {
  if (!target.startsWith('/') || target.startsWith('//'))
    throw new HttpError(400, 'The target of a request must be a path.');
  try {
    return new URL(target, 'http://localhost');
  } catch {
    throw new HttpError(400, 'The target of a request must be a path.');
  }
}

function sendError(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const isGone = res.headersSent || res.destroyed || (error as NodeJS.ErrnoException)?.code === 'ECONNRESET';
  if (isGone) {
    res.destroy();
  } else if (error instanceof HttpError) {
    sendSentence(req, res, error.status, error.message);
  } else {
    console.error(error);
    sendSentence(req, res, 500, `The sandbox failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function sendSentence(req: IncomingMessage, res: ServerResponse, status: number, sentence: string): void {
  const isPage = req.headers.accept?.includes('text/html') ?? false;
  if (isPage) sendPage(res, status, page({ title: `${status}`, width: 'narrow', body: html`<h1>${sentence}</h1>` }));
  else sendText(res, status, sentence);
}
