import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { securityHeaders } from '@gatehouse/api/http/security-headers';
import type { Config } from '@gatehouse/api/platform/config';
import { createAdmission, type RequestClass } from './admission.ts';
import type { ApiHandler } from './api/api.ts';
import { addressOf, canonicalise, hasOneHost, pathOf } from './canonical-request.ts';
import { watchProbes } from './drain.ts';
import { answerHealth, answerReadiness, refuse, refuseMethod } from './json-answers.ts';
import { listen } from './listen.ts';
import { createPageTurns } from './page-turns.ts';
import { createRefusals } from './refusals.ts';
import { answerUnreadable, methodsOfAll } from './unreadable-requests.ts';

/** A handler returns a promise of the end of its work, which may come after the client has disconnected. */
export type Application = {
  api: ApiHandler;
  /** Answers every other request: Kit's handler. `next` answers a path of no page. */
  pages: (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;
  /** Resolves to null while the database answers, else to the code of the reason, within two seconds. */
  readiness: () => Promise<string | null>;
  /** Counts a request that was refused because too many of its class are open. */
  countRefusal: (kind: RequestClass) => void;
  /** Logs what the handler of pages threw. */
  logFailure: (error: unknown) => void;
};

type HttpServer = {
  /** Passes all later requests to the application. */
  serve(application: Application): void;
  /**
   * Answers /readyz 503, keeps serving while a reverse proxy notices it, then answers new requests
   * 503, lets open requests finish within 18 s, and closes the server.
   */
  drain(): Promise<void>;
};

/** Node's own settings, which bound slow clients and many connections. */
const settings = {
  /** Each connection takes memory and a file descriptor, which connections to the database need too. */
  maxConnections: 10_000,
  /** The last answer closes the connection, so that a proxy spreads its connections over nodes that were added. */
  maxRequestsPerSocket: 1_000,
  headersTimeout: 10_000,
  /** From the first byte of a request to the last of its body. */
  requestTimeout: 20_000,
  /** A client that reads no answer would hold it for ever. A poll is answered within 60 s. */
  timeout: 120_000,
  // Longer than the idle timeout of common proxies, so that a proxy never reuses a connection that was just closed.
  keepAliveTimeout: 65_000,
};

/** The types of static files that are text. */
const textTypes: Record<string, string> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};

const drainMilliseconds = 18_000;
const pollMilliseconds = 25;

/**
 * Listens on HOST and PORT. Before the application is loaded and at the end of a shutdown,
 * every request except GET /healthz is answered 503: a browser gets a page, a program JSON.
 *
 * @throws Error whose message is a sentence, if the server cannot listen on the address.
 */
export async function openHttpServer(config: Config, changed: Partial<typeof settings> = {}): Promise<HttpServer> {
  const { headersTimeout, requestTimeout, keepAliveTimeout, ...ofServer } = { ...settings, ...changed };
  const probes = watchProbes();
  const admission = createAdmission((kind) => application?.countRefusal(kind));
  const startPage = createPageTurns();
  const refuseBusy = createRefusals(config);
  const responses = new Set<ServerResponse>();
  let application: Application | null = null;
  let isEnding = false;

  const options = {
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    connectionsCheckingInterval: headersTimeout / 4,
    // Node's own answer to a request without Host has no security headers.
    requireHostHeader: false,
  };
  const server = http.createServer(options, answer);
  Object.assign(server, ofServer);
  // An unknown expectation is ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', answer);
  server.on('connection', (socket) => {
    // Node 20 closes only the first of a connection's pipelined responses, and the others would count for ever.
    socket.once('close', () => setImmediate(() => responsesOf(socket).forEach((each) => void each.emit('close'))));
  });
  const responsesOf = (socket: Duplex) => [...responses].filter(({ req }) => req.socket === socket);
  const fixedHeaders = Object.entries(securityHeaders(config));
  answerUnreadable(server, fixedHeaders, (socket) => responsesOf(socket).some(({ headersSent }) => headersSent));
  await listen(server, config);

  /** Set here because the application's hook does not run for static files. The API sets its own. */
  function setFixedHeaders(response: ServerResponse) {
    for (const [name, value] of fixedHeaders) response.setHeader(name, value);
  }

  /** Kit's file server keeps the type that is set, and names no charset by itself. Its pages replace it. */
  function nameCharset(response: ServerResponse, pathname: string) {
    const type = textTypes[pathname.slice(pathname.lastIndexOf('.'))];
    if (type !== undefined) response.setHeader('Content-Type', `${type}; charset=utf-8`);
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    responses.add(response);
    const closed = new Promise((resolve) => response.once('close', resolve));
    closed.then(() => responses.delete(response));

    // Node drops what follows in the same segment, so that a later request would wait for the answer to a lost one.
    if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close');
    const target = hasOneHost(request) ? pathOf(request.url ?? '') : null;
    if (target === null || request.method === 'TRACE') {
      setFixedHeaders(response);
      if (target !== null) refuseMethod(response, methodsOfAll);
      else refuse(response, 400, 'VALIDATION', 'The request is not valid HTTP.');
      return;
    }

    const [pathname = ''] = target.split('?', 1);
    const leave = admission.admit(request.method ?? '', pathname);
    if (leave === null) {
      refuseBusy(request, response, isEnding ? 'unready' : 'overloaded');
      return;
    }
    // The proxy opens its next connection to another node.
    if (isEnding) response.setHeader('Connection', 'close');
    // A request whose client has disconnected counts until its work has ended.
    const work = startWork(request, response, { target, pathname });
    closed
      .then(() => work)
      .catch(() => {})
      .finally(leave);
  }

  /** Returns a promise of the end of the work, if it does not end at once. */
  function startWork(
    request: IncomingMessage,
    response: ServerResponse,
    { target, pathname }: { target: string; pathname: string },
  ): unknown {
    if (pathname === '/healthz') {
      setFixedHeaders(response);
      return answerHealth(request, response);
    }
    const isProbe = pathname === '/readyz';
    const loaded = application;
    if (loaded === null || (isEnding && isProbe)) return refuseBusy(request, response, 'unready');
    if (isProbe) {
      probes.noteProbe();
      setFixedHeaders(response);
      return answerReadiness(request, response, loaded.readiness);
    }

    const { headers, socket } = request;
    const address = addressOf(socket.remoteAddress, headers['x-forwarded-for'], config.trustedProxies);
    const work = loaded.api(request, response, { target, client: { address } });
    if (work !== null) return work;
    setFixedHeaders(response);
    nameCharset(response, pathname);
    canonicalise(request, config, address);
    request.url = target;
    const next = () => refuse(response, 404, 'NOT_FOUND', 'There is no such path.');
    const page = startPage(() => {
      // While it waited for its turn, its client may have gone: Kit's file server throws where it can write no more.
      if (!response.destroyed) return loaded.pages(request, response, next);
    });
    return page.catch((error) => {
      loaded.logFailure(error);
      response.destroy();
    });
  }

  return {
    serve(loaded) {
      application = loaded;
    },
    async drain() {
      isEnding = true;
      for (const response of responses) if (!response.headersSent) response.setHeader('Connection', 'close');
      await new Promise((resolve) => setTimeout(resolve, probes.noticeMilliseconds()));

      application = null;
      server.closeIdleConnections();
      const deadline = performance.now() + drainMilliseconds;
      while (responses.size > 0 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));

      server.close();
      server.closeAllConnections();
    },
  };
}
