import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendPage, sendText } from './answer.ts';
import { html } from './html.ts';
import { page } from './page.ts';
import { AppError, type Exchange } from './request.ts';

/** Answers a request, or returns false when the path is not its own. */
export type Handler = (exchange: Exchange) => Promise<boolean> | boolean;

export interface RunningServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Listens on the loopback address alone. Nothing that a request holds ends the
 * process: a throw becomes a 500 with its message, since its reader is a developer.
 */
export async function startServer(port: number, handlers: Handler[]): Promise<RunningServer> {
  const server = createServer((req, res) => {
    req.on('error', () => {});
    res.on('error', () => {});
    answer(req, res, handlers).catch((error: unknown) => refuse(req, res, error));
  });
  // A page of the sandbox may be waited for on purpose (silent answers), so no time-outs of its own.
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
  if (!isLoopbackHost(req.headers.host)) throw new AppError(403, 'The sandbox answers on localhost only.');
  if (isForeignForm(req)) throw new AppError(403, 'Another site may not act in the sandbox.');
  const target = parseTarget(req.url ?? '/');
  const exchange: Exchange = {
    req,
    res,
    method: req.method ?? 'GET',
    path: target.pathname,
    query: target.searchParams,
  };
  for (const handler of handlers) if (await handler(exchange)) return;
  throw new AppError(404, 'There is no such page in the sandbox.');
}

/** A page of a foreign site that has its name point here gets nothing (DNS rebinding). */
function isLoopbackHost(host: string | undefined): boolean {
  return /^(localhost|127\.0\.0\.1)(:\d+)?$/i.test(host ?? '');
}

/** Neither may a page that the developer happens to have open press buttons here. */
function isForeignForm({ method, headers }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD' && headers['sec-fetch-site'] === 'cross-site';
}

function parseTarget(target: string): URL {
  if (!target.startsWith('/') || target.startsWith('//')) throw new AppError(400, 'That is not a path.');
  try {
    return new URL(target, 'http://localhost');
  } catch {
    throw new AppError(400, 'That is not a path.');
  }
}

function refuse(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const isGone = res.headersSent || res.destroyed || (error as NodeJS.ErrnoException)?.code === 'ECONNRESET';
  if (isGone) {
    res.destroy();
  } else if (error instanceof AppError) {
    say(req, res, error.status, error.message);
  } else {
    console.error(error);
    say(req, res, 500, `The sandbox failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function say(req: IncomingMessage, res: ServerResponse, status: number, sentence: string): void {
  const isPage = req.headers.accept?.includes('text/html') ?? false;
  if (isPage) sendPage(res, status, page({ title: `${status}`, width: 'narrow', body: html`<h1>${sentence}</h1>` }));
  else sendText(res, status, sentence);
}
