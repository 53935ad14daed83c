import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { clientKey } from '@gatehouse/api/security/client-key';

/**
 * How many requests of each class this process serves at once, and how many of one client. With more,
 * requests would wait for each other until their callers time out. Each class has its own limit, so
 * a flood of one does not block the others. Above `unknown` a session or key must have been valid recently. A proxy that
 * is not in TRUSTED_PROXIES is one client.
 */
const classes = {
  ordinary: { all: 200, client: 150, unknown: 200 },
  /** Reads with a session or a key. Invented ones take no more than the first third of the places. */
  reads: { all: 300, client: 250, unknown: 100 },
  /** The payment provider sends from a few addresses. */
  webhooks: { all: 300, client: 250, unknown: 300 },
  /** Requests that wait for changes: they do nothing meanwhile. */
  polls: { all: 2000, client: 1000, unknown: 1500 },
  /** GET /metrics: an operator needs it most when everything else is refused. */
  scrapes: { all: 10, client: 10, unknown: 10 },
};

export type Class = keyof typeof classes;

/**
 * For how long requests are started, and for how long connections are then accepted, before either continues. Also the
 * least number of each: on a busy machine the process may not have run in that time.
 */
const turnMilliseconds = 10;
const leastInTurn = 8;

/** For how long a request may be sent before another one can take its place. */
const sendingMilliseconds = 1_000;

/**
 * The bytes of all bodies of a class, and those of one client. A body counts with the length that it announces, up to
 * what is read of one. Without Content-Length it counts with what Node buffers, and with more when more has come.
 */
const maxClassBytes = 32 * 1024 * 1024;
const maxClientBytes = maxClassBytes / 4;
const maxBodyBytes = 1024 * 1024;
const bufferedBytes = 64 * 1024;

/** The place of a request that counts as open. */
export type Place = {
  /** Calls `work` in its turn; not at all once the place is left. */
  start: (work: () => void) => void;
  /** Resolves in a turn that has time. To be awaited before a page is rendered, which may follow an answer of the database. */
  nextTurn: () => Promise<void>;
  /** The request no longer counts. */
  leave: () => void;
};

/** The address of a client, and what tells whether the session or key in its headers was valid recently. */
type Client = { address: string; isRecent: (headers: IncomingHttpHeaders) => boolean };

/** A request with a body that was started, and may not have been sent to its end. */
type Sending = { request: IncomingMessage; client: string; began: number; leave: () => void };

/**
 * Limits how many requests are open at once, in memory, and decides when each starts. Each process counts its own.
 * `onRefusal` is called for each request that a limit of its class refuses.
 */
export function createAdmission(onRefusal: (kind: Class) => void = () => {}) {
  const open = new Map<string, number>();
  const sending = perClass(() => new Set<Sending>());
  const { enqueue, hasTime, noteConnection } = createTurns();

  function change(key: string, by: number) {
    if (by === 0) return;
    const count = (open.get(key) ?? 0) + by;
    if (count === 0) open.delete(key);
    else open.set(key, count);
  }

  /** Ends one request that is sent slowly, of a client or of any. One that waits for the service to read it is not slow. */
  function endSlow(kind: Class, client: string | null): boolean {
    for (const each of sending[kind]) {
      const { complete, readableLength, readableHighWaterMark } = each.request;
      const isSlow = !complete && performance.now() - each.began > sendingMilliseconds;
      if (!isSlow || readableLength >= readableHighWaterMark || (client !== null && each.client !== client)) continue;
      each.request.destroy();
      each.leave();
      return true;
    }
    return false;
  }

  return {
    /**
     * Counts a request of a client as open, or returns null if a limit is reached. At the limit it takes the place of
     * a request that is being sent slowly, whose connection it closes.
     */
    admit(request: IncomingMessage, path: string, { address, isRecent }: Client): Place | null {
      const kind = classOf(request, path);
      const { all, client: ofClient, unknown } = classes[kind];
      const client = clientKey(address);
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      const bytes = encoding === undefined ? Math.min(Number(length ?? 0) || 0, maxBodyBytes) : bufferedBytes;
      const keys = {
        all: kind,
        client: `${kind} ${client}`,
        bytes: `${kind} bytes`,
        clientBytes: `${kind} bytes ${client}`,
      };
      const count = (key: string) => open.get(key) ?? 0;
      const hasClientBytes = (more: number) => count(keys.clientBytes) + more <= maxClientBytes;
      const hasClassBytes = (more: number) => count(keys.bytes) + more <= maxClassBytes;
      const isClientFull = () => count(keys.client) >= ofClient || !hasClientBytes(bytes);
      const isClassFull = () => count(keys.all) >= all || !hasClassBytes(bytes);
      const isUnknown = unknown < all && count(keys.all) >= unknown && !isRecent(request.headers);

      let hasRoom = !isUnknown;
      while (hasRoom && isClientFull()) hasRoom = endSlow(kind, client);
      while (hasRoom && isClassFull()) hasRoom = endSlow(kind, null);
      if (!hasRoom) {
        onRefusal(kind);
        return null;
      }

      let heldBytes = 0;
      function hold(requests: number, more: number) {
        heldBytes += more;
        change(keys.all, requests);
        change(keys.client, requests);
        change(keys.bytes, more);
        change(keys.clientBytes, more);
      }
      hold(1, bytes);

      const sent: Sending = { request, client, began: 0, leave };
      let hasLeft = false;
      function leave() {
        if (hasLeft) return;
        hasLeft = true;
        sending[kind].delete(sent);
        hold(-1, -heldBytes);
      }
      let received = 0;
      /** Closes the connection of a body without Content-Length that becomes longer than there is room for. */
      function countPart(part: Buffer) {
        received += part.length;
        const more = Math.min(received, maxBodyBytes) - heldBytes;
        if (hasLeft || more <= 0) return;
        if (hasClientBytes(more) && hasClassBytes(more)) return hold(0, more);
        onRefusal(kind);
        request.destroy();
        leave();
      }
      function start(work: () => void) {
        enqueue(kind, client, () => {
          if (hasLeft) return;
          // An earlier listener would begin to read the body.
          if (encoding !== undefined) request.once('resume', () => request.on('data', countPart));
          if (bytes > 0) sending[kind].add(Object.assign(sent, { began: performance.now() }));
          work();
        });
      }
      const nextTurn = () => new Promise<void>((go) => (hasTime() ? go() : enqueue(kind, client, go)));
      return { start, nextTurn, leave };
    },
    /** To be called for each connection that was accepted. */
    noteConnection,
  };
}

function perClass<Value>(create: () => Value): Record<Class, Value> {
  return Object.fromEntries(Object.keys(classes).map((kind) => [kind, create()])) as Record<Class, Value>;
}

/**
 * Starts requests after all connections were read that have sent something. Otherwise a page that is rendered without
 * waiting would be finished before the next request is counted: a thousand of them would be rendered in one turn of
 * the event loop, while no limit is reached and every probe waits. Requests that one turn does not start wait for the
 * next ones, where the classes alternate, and in a class the clients. Node accepts one connection in each turn, so while
 * connections wait, turns that only accept and read alternate with those that work (docs/decisions/041).
 */
function createTurns() {
  const lanes = perClass(() => new Map<string, (() => void)[]>());
  const order = Object.values(lanes);
  let hasLeader = false;
  let isWorking = false;
  let hasAccepted = false;
  let until = 0;
  let done = 0;

  /** Sets a call for each request that waits. The first one that is set for a turn is its leader. */
  function setCall() {
    setImmediate(hasLeader ? startNext : leadTurn);
    hasLeader = true;
  }

  function leadTurn() {
    const wasWorking = isWorking;
    isWorking = !hasAccepted || (!wasWorking && isOver());
    if (isWorking || wasWorking) {
      until = performance.now() + turnMilliseconds;
      done = 0;
    }
    if (!isWorking) done += 1;
    hasAccepted = false;
    hasLeader = false;
    startNext();
  }

  function isOver() {
    return done >= leastInTurn && performance.now() > until;
  }

  /** Node runs promises between two calls, so that the next one begins when a page is rendered. */
  function startNext() {
    if (!isWorking || isOver()) return setCall();

    const at = order.findIndex((lane) => lane.size > 0);
    const [lane] = order.splice(at, 1) as [Map<string, (() => void)[]>];
    order.push(lane);
    const [client, waiting] = lane.entries().next().value as [string, (() => void)[]];
    const work = waiting.shift();
    // A map keeps the order in which its keys were added.
    lane.delete(client);
    if (waiting.length > 0) lane.set(client, waiting);
    done += 1;
    work?.();
  }

  return {
    enqueue(kind: Class, client: string, work: () => void) {
      const waiting = lanes[kind].get(client);
      if (waiting === undefined) lanes[kind].set(client, [work]);
      else waiting.push(work);
      setCall();
    },
    /** Whether the last turn has not taken its time, and no next one is set, which would cost a lone page 50 µs. */
    hasTime: () => !hasLeader && performance.now() < until,
    noteConnection() {
      hasAccepted = true;
    },
  };
}

function classOf({ method, headers }: IncomingMessage, path: string): Class {
  const [pathname] = path.split('?');
  const isRead = method === 'GET' || method === 'HEAD';
  const isSignedIn =
    /(^|;\s*)((__Host-)?session|__Secure-gatehouse)=/.test(headers.cookie ?? '') || headers.authorization !== undefined;
  if (pathname?.startsWith('/webhooks/')) return 'webhooks';
  if (pathname === '/metrics') return 'scrapes';
  if (isRead && isSignedIn) return pathname === '/api/changes' ? 'polls' : 'reads';
  return 'ordinary';
}
