import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Requester } from '@gatehouse/api/platform/security/client';
import { createPlaces } from '@gatehouse/api/platform/security/fairness/places';
import { createTurns } from '@gatehouse/api/platform/security/fairness/turns';

/**
 * How many requests of each class this process serves at once. With more, requests would wait for each other until
 * their callers time out. Each class has its own places, so a flood of one does not block the others. How networks and
 * clients share them is said at `createPlaces`. A proxy that is not in TRUSTED_PROXIES is one network.
 */
const places = {
  ordinary: 200,
  /** Reads with a session or a key. */
  reads: 300,
  webhooks: 300,
  /** Requests that wait for changes: they do nothing meanwhile. */
  polls: 2000,
  /** GET /metrics: an operator needs it most when everything else is refused. */
  scrapes: 10,
};

export type RequestClass = keyof typeof places;

/**
 * Above so many open requests of a class, one whose session or key was not valid recently takes one of other places, so
 * that invented ones do not take those of the others, nor the others theirs.
 */
const checkedAbove: Partial<Record<RequestClass, number>> = { reads: 100, polls: 1500 };
const uncheckedPlaces = 100;

/** For how long a request may be sent before another one can take its place. */
const sendingMilliseconds = 1_000;

/** The share of a class that a network may hold and still end slow requests of any other. */
const lightShare = 0.1;

/**
 * For how long a request counts whose client has disconnected while it was processed, if its work does not end before.
 * That waits for a connection, statements and other services no longer than this.
 */
const abandonedMilliseconds = 60_000;

/**
 * The bytes of all bodies of a class. A body counts with the length that it announces, up to what is read of one.
 * Without Content-Length it counts with what Node buffers, and with more when more has come.
 */
const maxClassBytes = 32 * 1024 * 1024;
const maxBodyBytes = 1024 * 1024;
const bufferedBytes = 64 * 1024;

/** The place of a request that counts as open. */
export type Place = {
  /**
   * Calls `work` in its turn; not at all once the place is left. Calls `refuse` in place of it if another request takes
   * the place before.
   */
  start: (work: () => unknown, refuse: () => void) => void;
  /** Resolves in a turn that has time. To be awaited before a page is rendered, which may follow an answer of the database. */
  nextTurn: () => Promise<void>;
  /** The request was answered, and no longer counts. */
  leave: () => void;
  /** The client has disconnected. The request counts until the promise that `work` returned is settled. */
  abandon: () => void;
};

/** Who requests, and what tells whether the session or key in the headers was valid recently. */
type Origin = { requester: Requester; isRecent: (headers: IncomingHttpHeaders) => boolean };

/** A request with a body that was started, and may not have been sent to its end. */
type Sending = { request: IncomingMessage; requester: Requester; began: number; free: () => void };

/** Places, the requests on them that are being sent, and how many places a network holds at most that counts as light. */
type Group = ReturnType<typeof createPlaces> & { sending: Set<Sending>; light: number };

/**
 * Limits how many requests are open at once, in memory, and decides when each starts. Each process counts its own.
 * `onRefusal` is called for each request that a limit of its class refuses.
 */
export function createAdmission(onRefusal: (kind: RequestClass) => void = () => {}) {
  const checked = perClass((kind) => newGroup(places[kind]));
  const unchecked = perClass(() => newGroup(uncheckedPlaces));
  const { noteWaiting, noteLeft, hasTime, noteConnection } = createTurns();

  return {
    /**
     * Counts a request of a client as open, or returns null if a limit is reached. At the limit it takes the place of
     * a request that is being sent slowly, whose connection it closes, or of one that waits to start.
     */
    admit(request: IncomingMessage, path: string, { requester: sender, isRecent }: Origin): Place | null {
      const { headers } = request;
      const credential = credentialOf(headers);
      const kind = classOf(request, path, credential !== null);
      const isChecked = checked[kind].open() < (checkedAbove[kind] ?? Number.POSITIVE_INFINITY) || isRecent(headers);
      const group = (isChecked ? checked : unchecked)[kind];
      // Behind a proxy of users or services, which has one address, each session and key is a client.
      const requester = credential === null ? sender : { ...sender, client: `${sender.client} ${credential}` };
      const { 'content-length': length, 'transfer-encoding': encoding } = headers;
      const bytes = encoding === undefined ? Math.min(Number(length ?? 0) || 0, maxBodyBytes) : bufferedBytes;

      let hasRoom = true;
      while (hasRoom && !group.hasBytes(requester, bytes)) hasRoom = endSlow(group, requester);
      if (hasRoom && !group.hasPlace(requester)) hasRoom = endSlow(group, requester) || group.displace(requester);
      if (!hasRoom) {
        onRefusal(kind);
        return null;
      }

      const held = group.take(requester, bytes);
      const sent: Sending = { request, requester, began: 0, free };
      let isFree = false;
      let working: unknown;
      function free() {
        if (isFree) return;
        isFree = true;
        group.sending.delete(sent);
        if (held.leave()) noteLeft();
      }

      let heldBytes = bytes;
      let received = 0;
      /** Closes the connection of a body without Content-Length that becomes longer than there is room for. */
      function countPart(part: Buffer) {
        received += part.length;
        const more = Math.min(received, maxBodyBytes) - heldBytes;
        if (isFree || more <= 0) return;
        heldBytes += more;
        if (group.hasBytes(requester, more)) return held.addBytes(more);
        onRefusal(kind);
        request.destroy();
        free();
      }

      return {
        start(work, refuse) {
          function run() {
            // An earlier listener would begin to read the body.
            if (encoding !== undefined) request.once('resume', () => request.on('data', countPart));
            if (bytes > 0) group.sending.add(Object.assign(sent, { began: performance.now() }));
            working = work();
          }
          function refuseStart() {
            free();
            onRefusal(kind);
            refuse();
          }
          held.start({ run, refuse: refuseStart });
          noteWaiting(group);
        },
        nextTurn: () =>
          new Promise<void>((go) => {
            if (hasTime()) return go();
            held.continue(go);
            noteWaiting(group);
          }),
        leave: free,
        abandon() {
          if (!(working instanceof Promise)) return free();
          const timer = setTimeout(free, abandonedMilliseconds).unref();
          const end = () => {
            clearTimeout(timer);
            free();
          };
          working.then(end, end);
        },
      };
    },
    /** To be called for each connection that was accepted. */
    noteConnection,
  };
}

function newGroup(maxPlaces: number): Group {
  return { ...createPlaces(maxPlaces, maxClassBytes), sending: new Set(), light: maxPlaces * lightShare };
}

function perClass<Value>(create: (kind: RequestClass) => Value): Record<RequestClass, Value> {
  const kinds = Object.keys(places) as RequestClass[];
  return Object.fromEntries(kinds.map((kind) => [kind, create(kind)])) as Record<RequestClass, Value>;
}

/**
 * Ends one request that is sent slowly. A network with more than a tenth of the places ends only those of networks with
 * as many or more, so that few that flood a class do not end the slow uploads of others. One that waits for the
 * service to read it is not slow.
 */
function endSlow({ sending, openOf, light }: Group, requester: Requester): boolean {
  const least = openOf(requester) <= light ? 0 : openOf(requester);
  for (const { request, requester: sender, began, free } of sending) {
    const { complete, readableLength, readableHighWaterMark } = request;
    const isSlow = !complete && performance.now() - began > sendingMilliseconds;
    if (!isSlow || readableLength >= readableHighWaterMark || openOf(sender) < least) continue;
    request.destroy();
    free();
    return true;
  }
  return false;
}

/** The session or key that a request presents, whether or not it is valid. */
function credentialOf({ authorization, cookie }: IncomingHttpHeaders): string | null {
  if (authorization !== undefined) return authorization;
  return /(?:^|;\s*)(?:(?:__Host-)?session|__Secure-gatehouse)=([^;]+)/.exec(cookie ?? '')?.[1] ?? null;
}

function classOf({ method }: IncomingMessage, path: string, isSignedIn: boolean): RequestClass {
  const [pathname] = path.split('?');
  const isRead = method === 'GET' || method === 'HEAD';
  if (pathname?.startsWith('/webhooks/')) return 'webhooks';
  if (pathname === '/metrics') return 'scrapes';
  if (isRead && isSignedIn) return pathname === '/api/changes' ? 'polls' : 'reads';
  return 'ordinary';
}
