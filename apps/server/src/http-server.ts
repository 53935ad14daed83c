import { AsyncLocalStorage } from 'node:async_hooks';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { securityHeaders } from '@gatehouse/api/http/security-headers';
import type { Config } from '@gatehouse/api/platform/config';
import type { KeyedClient } from '@gatehouse/api/platform/security/client';
import { createAdmission, type Place, type RequestClass } from './admission.ts';
import { canonicalise, clientOf, pathOf } from './canonical-request.ts';
import { watchProbes } from './drain.ts';
import { answerHealth, answerReadiness, refuse, refuseMethod } from './json-answers.ts';
import { listen } from './listen.ts';
import { createRefusals } from './refusals.ts';
import { answerUnreadable, methodsOfAll } from './unreadable-requests.ts';

/** The path and query of a request, and its client, whose address is read and keyed once. */
export type RequestTarget = { target: string; client: KeyedClient };

type AdmittedRequest = RequestTarget & { place: Place };

/** `nextTurn` resolves when the page may be rendered. */
type PageRequest = Pick<RequestTarget, 'client'> & Pick<Place, 'nextTurn'>;

/** A handler returns a promise of the end of its work, which may come after the client has disconnected. */
export type Application = {
  /** Answers a request to a REST endpoint. Returns null for any other path. */
  rest: (request: IncomingMessage, response: ServerResponse, addressed: RequestTarget) => Promise<void> | null;
  /** Answers every other request. `next` answers a path of no page. */
  pages: (request: IncomingMessage, response: ServerResponse, next: () => void, page: PageRequest) => unknown;
  /** Resolves to null while the database answers, else to the code of the reason, within two seconds. */
  readiness: () => Promise<string | null>;
  /** Whether the session or the API key of these headers was valid recently in this process. */
  isRecent: (headers: IncomingHttpHeaders) => boolean;
  /** Counts a request that was refused because too many of its class are open. */
  countRefusal: (kind: RequestClass) => void;
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

const settings = {
  // Longer than the idle timeout of common proxies, so that a proxy never reuses a connection that was just closed.
  keepAliveTimeout: 65_000,
  // Node's own answer to a request without Host has no security headers.
  requireHostHeader: false,
};

/** What bounds the connections of this process. */
const limits = {
  /** Each takes memory and a file descriptor, which connections to the database need too. */
  connections: 10_000,
  /** Requests that a connection sends without waiting for the answers. Browsers and proxies send one at a time. */
  pipelined: 32,
  /** A request that is sent slowly takes the place of others. */
  sendingMilliseconds: 20_000,
  /** A client that reads no answer holds the places of its requests. A poll is answered within 60 s. */
  silentMilliseconds: 120_000,
};

const drainMilliseconds = 18_000;
const pollMilliseconds = 25;

/**
 * Listens on HOST and PORT. Before the application is loaded and at the end of a shutdown,
 * every request except GET /healthz is answered 503: a browser gets a page, a program JSON.
 *
 * @throws Error whose message is a sentence, if the server cannot listen on the address.
 */
export async function openHttpServer(config: Config, bounds: Partial<typeof limits> = {}): Promise<HttpServer> {
  const probes = watchProbes();
  const { silentMilliseconds, sendingMilliseconds, ...most } = { ...limits, ...bounds };
  const connections = createConnections(most);
  const admission = createAdmission((kind) => application?.countRefusal(kind));
  const refuseBusy = createRefusals(config);
  const busyReason = () => (isEnding ? 'unready' : 'overloaded');
  let application: Application | null = null;
  let isEnding = false;
  // A request whose page waits for its turn may set the call that starts another one.
  const outsideRequests = AsyncLocalStorage.snapshot();
  const times = { requestTimeout: sendingMilliseconds, connectionsCheckingInterval: sendingMilliseconds / 4 };
  const server = http.createServer({ ...settings, ...times }, (request, response) => {
    if (!connections.addResponse(request.socket, response)) return;
    const loaded = application;
    const admitted = admit(request, response);
    if (admitted === null || loaded === null) return;
    const work = () => outsideRequests(pass, request, response, admitted, loaded);
    admitted.place.start(work, () => refuseBusy(request, response, busyReason()));
  });
  server.timeout = silentMilliseconds;
  server.on('connection', (socket) => {
    connections.add(socket);
    admission.noteConnection();
  });
  // An unknown expectation is ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  const fixedHeaders = Object.entries(securityHeaders(config));
  answerUnreadable(server, fixedHeaders, connections.hasBegun);
  await listen(server, config);

  /** Set here because the application's hook does not run for static files. The REST endpoints set their own. */
  function setFixedHeaders(response: ServerResponse) {
    for (const [name, value] of fixedHeaders) response.setHeader(name, value);
  }

  function pass(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest, loaded: Application) {
    const restWork = loaded.rest(request, response, admitted);
    if (restWork !== null) return restWork;
    setFixedHeaders(response);
    const { client, place } = admitted;
    canonicalise(request, config, client.address);
    request.url = admitted.target;
    const next = () => refuse(response, 404, 'NOT_FOUND', 'There is no such path.');
    return loaded.pages(request, response, next, { client, nextTurn: place.nextTurn });
  }

  /** Returns what the application answers. Answers every other request, and returns null. */
  function admit(request: IncomingMessage, response: ServerResponse): AdmittedRequest | null {
    function answered(answer: () => void): null {
      setFixedHeaders(response);
      answer();
      return null;
    }

    // RFC 9112 §3.2, although nothing here depends on the host.
    const lacksHost = request.httpVersion === '1.1' && request.headers.host === undefined;
    const target = lacksHost ? null : pathOf(request.url ?? '');
    if (target === null) {
      return answered(() => refuse(response, 400, 'VALIDATION', 'The request is not valid HTTP.'));
    }
    if (request.method === 'TRACE') return answered(() => refuseMethod(response, methodsOfAll));
    const [pathname] = target.split('?', 1);
    if (pathname === '/healthz') return answered(() => answerHealth(request, response));
    const isProbe = pathname === '/readyz';
    if (!application || (isEnding && isProbe)) {
      refuseBusy(request, response, 'unready');
      return null;
    }

    if (isProbe) {
      probes.noteProbe();
      const { readiness } = application;
      return answered(() => void answerReadiness(request, response, readiness));
    }
    const { headers, socket } = request;
    const client = clientOf(socket.remoteAddress, headers['x-forwarded-for'], config.trustedProxies);
    const place = admission.admit(request, target, { requester: client.requester, isRecent: application.isRecent });
    if (place === null) {
      refuseBusy(request, response, busyReason());
      return null;
    }
    response.once('close', () => (response.writableFinished ? place.leave() : place.abandon()));

    // The proxy opens its next connection to another node.
    if (isEnding) response.setHeader('Connection', 'close');
    return { target, client, place };
  }

  return {
    serve(loaded) {
      application = loaded;
    },
    async drain() {
      isEnding = true;
      for (const response of connections.responses())
        if (!response.headersSent) response.setHeader('Connection', 'close');
      await new Promise((resolve) => setTimeout(resolve, probes.noticeMilliseconds()));

      application = null;
      server.closeIdleConnections();
      const deadline = performance.now() + drainMilliseconds;
      while (connections.responses().length > 0 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));

      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Bounds the connections of this process, and the requests that are open on each. Above the limit the connection
 * that has been without a request for longest is closed, so that connections on which nothing is sent do not keep
 * others out.
 */
function createConnections({ connections: most, pipelined }: Pick<typeof limits, 'connections' | 'pipelined'>) {
  const open = new Map<Duplex, Set<ServerResponse>>();
  const idle = new Set<Socket>();

  return {
    /** All that are open. */
    responses: () => [...open.values()].flatMap((each) => [...each]),
    /** Whether an answer was begun that has not ended. */
    hasBegun: (socket: Duplex) => [...(open.get(socket) ?? [])].some(({ headersSent }) => headersSent),
    /** To be called for each connection that was accepted. */
    add(socket: Socket): void {
      const responses = new Set<ServerResponse>();
      open.set(socket, responses);
      idle.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        idle.delete(socket);
        // Node 20 closes only the first of a connection's pipelined responses, and the others would count for ever.
        setImmediate(() => responses.forEach((each) => void each.emit('close')));
      });
      if (open.size <= most) return;

      const [oldest] = idle;
      if (oldest === undefined) return;
      idle.delete(oldest);
      oldest.destroy();
    },

    /** Counts a response until it closes. Returns false, and closes the connection, if it sent too many requests at once. */
    addResponse(socket: Socket, response: ServerResponse): boolean {
      const responses = open.get(socket);
      if (responses === undefined || socket.destroyed) return false;
      if (responses.size >= pipelined) {
        socket.destroy();
        return false;
      }

      idle.delete(socket);
      responses.add(response);
      response.once('close', () => {
        responses.delete(response);
        if (responses.size === 0 && !socket.destroyed) idle.add(socket);
      });
      return true;
    },
  };
}
