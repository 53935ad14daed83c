import type { Requester } from '../client.ts';

/** A network may take a further place while it holds fewer than this many times the places that are free. */
const shareOfFree = 3;

/** What waits to start: until `run` is called in its turn, or `refuse` because another request takes its place. */
type Start = { run: () => void; refuse: () => void };

type Client = { open: number; starts: Start[]; continuations: (() => void)[] };
/** `starting` counts what waits to start. `turns` are the clients of which something waits, in the order of their turns. */
type Network = { open: number; bytes: number; starting: number; clients: Map<string, Client>; turns: Set<Client> };

/** A place that a request holds. */
export type HeldPlace = {
  /** Lets the request wait for its turn to start. Until then another one may take its place. */
  start: (task: Start) => void;
  /** Lets the request wait for a turn again. Nothing takes its place any more. */
  continue: (run: () => void) => void;
  /** Counts more bytes of its body. */
  addBytes: (more: number) => void;
  /** The request no longer counts, and no longer waits to start. To be called once. Returns whether it waited. */
  leave: () => boolean;
};

/**
 * Shares places among networks, and among the clients of each, so that a flood from a few leaves places for all others.
 *
 * - A network may take a place while it holds fewer than three times as many as are free: one alone gets three quarters
 *   of all, four together get twelve thirteenths. So places stay free even while every request takes long.
 * - A request without a place displaces the newest request that has not started, of the client with the most places in
 *   the network with the most, of those that have such requests. It does so only if that network, or else in its own
 *   network that client, has more places than the new request's would have.
 * - What waits gets turns: the networks alternate, and in each its clients. What has started comes before what starts.
 *
 * Needs memory for open requests only, however many clients there are.
 */
export function createPlaces(maxOpen: number, maxBytes: number) {
  const networks = new Map<string, Network>();
  /** Those of which something waits, in the order of their turns. */
  const turns = new Set<Network>();
  let open = 0;
  let bytes = 0;
  let waiting = 0;

  /** Counts a request, whether or not there is room. */
  function take(requester: Requester, bodyBytes: number): HeldPlace {
    const network = networks.get(requester.network) ?? newNetwork();
    const client = network.clients.get(requester.client) ?? { open: 0, starts: [], continuations: [] };
    networks.set(requester.network, network);
    network.clients.set(requester.client, client);
    let heldBytes = 0;
    let waits: Start | null = null;

    function count(requests: number, more: number) {
      open += requests;
      network.open += requests;
      client.open += requests;
      bytes += more;
      network.bytes += more;
      heldBytes += more;
    }

    function wait() {
      waiting += 1;
      network.turns.add(client);
      turns.add(network);
    }

    count(1, bodyBytes);
    return {
      start(task) {
        waits = task;
        client.starts.push(task);
        network.starting += 1;
        wait();
      },
      continue(run) {
        client.continuations.push(run);
        wait();
      },
      addBytes: (more) => count(0, more),
      leave() {
        count(-1, -heldBytes);
        if (client.open === 0) network.clients.delete(requester.client);
        if (network.open === 0) networks.delete(requester.network);

        const at = waits === null ? -1 : client.starts.indexOf(waits);
        if (at === -1) return false;
        client.starts.splice(at, 1);
        network.starting -= 1;
        waiting -= 1;
        if (!hasWaiting(client)) network.turns.delete(client);
        if (network.turns.size === 0) turns.delete(network);
        return true;
      },
    };
  }

  /** Takes out of the queue what has the next turn, for the caller to call. Returns undefined if nothing waits. */
  function next(): (() => void) | undefined {
    const [network] = turns;
    const [client] = network?.turns ?? [];
    if (network === undefined || client === undefined) return undefined;

    const started = client.continuations.shift();
    const run = started ?? client.starts.shift()?.run;
    if (started === undefined) network.starting -= 1;
    waiting -= 1;
    network.turns.delete(client);
    if (hasWaiting(client)) network.turns.add(client);
    turns.delete(network);
    if (network.turns.size > 0) turns.add(network);
    return run;
  }

  /** Refuses the request whose place one of this requester may take. Returns false if there is none. */
  function displace({ network, client }: Requester): boolean {
    const own = networks.get(network);
    const heavier = heaviest(turns, (own?.open ?? 0) + 1, ({ starting }) => starting > 0);
    const ofClients = heavier ?? own;
    if (ofClients === undefined) return false;

    const least = heavier === undefined ? (own?.clients.get(client)?.open ?? 0) + 1 : 0;
    const start = heaviest(ofClients.turns, least, ({ starts }) => starts.length > 0)?.starts.at(-1);
    start?.refuse();
    return start !== undefined;
  }

  const openOf = ({ network }: Requester) => networks.get(network)?.open ?? 0;

  return {
    take,
    next,
    displace,
    openOf,
    open: () => open,
    waiting: () => waiting,
    hasPlace: (requester: Requester) => openOf(requester) < shareOfFree * (maxOpen - open),
    /** Whether a network may hold so many more bytes: a quarter of all at most, and no more than then remain free. */
    hasBytes({ network }: Requester, more: number) {
      const held = (networks.get(network)?.bytes ?? 0) + more;
      return more === 0 || held <= Math.min(maxBytes / 4, maxBytes - bytes - more);
    },
  };
}

function newNetwork(): Network {
  return { open: 0, bytes: 0, starting: 0, clients: new Map(), turns: new Set() };
}

function hasWaiting({ starts, continuations }: Client): boolean {
  return starts.length > 0 || continuations.length > 0;
}

/** Returns the one with the most open requests of those with more than `above` for which `applies` holds. */
function heaviest<Each extends { open: number }>(
  all: Iterable<Each>,
  above: number,
  applies: (each: Each) => boolean,
): Each | undefined {
  let found: Each | undefined;
  for (const each of all) if (each.open > (found?.open ?? above) && applies(each)) found = each;
  return found;
}
