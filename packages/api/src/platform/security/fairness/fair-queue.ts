import { AppError } from '../../errors.ts';
import type { Requester } from '../client.ts';

type WaitingTask = { start: () => void; refuse: (error: AppError) => void; since: number };

/**
 * Runs at most `maxRunning` tasks at a time. Others wait: networks take turns, the clients of a network
 * take turns within it, and each client's tasks keep their order. So one client or network that
 * floods the queue delays the others by one task at a time.
 * At most `maxWaiting` tasks wait. Beyond that the newest task of the client with the most waiting,
 * in the network with the most waiting, is refused, which may be the task just added.
 * A task whose turn comes after `maxWaitMilliseconds` is refused: its caller has probably given up.
 *
 * @throws AppError BUSY, with the seconds to wait, from a call of the returned function whose task is refused.
 */
export function fairQueue(maxRunning: number, maxWaiting: number, maxWaitMilliseconds = Number.POSITIVE_INFINITY) {
  const networks = new Map<string, Map<string, WaitingTask[]>>();
  let running = 0;
  let waiting = 0;

  async function run<Result>(requester: Requester, task: () => Promise<Result>): Promise<Result> {
    if (running < maxRunning) running += 1;
    else await turnOf(requester);
    try {
      return await task();
    } finally {
      startNext();
    }
  }

  function turnOf({ network, client }: Requester): Promise<void> {
    return new Promise((start, refuse) => {
      const clients = networks.get(network) ?? new Map<string, WaitingTask[]>();
      networks.set(network, clients);
      clients.set(client, [...(clients.get(client) ?? []), { start, refuse, since: performance.now() }]);
      waiting += 1;
      if (waiting > maxWaiting) refuseOne({ network, client });
    });
  }

  /** Starts the next task in place of one that ended. The network and client that had the turn move to the end. */
  function startNext(): void {
    const [network] = networks.keys();
    const clients = network === undefined ? undefined : networks.get(network);
    const [client] = clients?.keys() ?? [];
    if (network === undefined || clients === undefined || client === undefined) {
      running -= 1;
      return;
    }

    const [next, ...later] = clients.get(client) ?? [];
    moveToEnd(clients, client, later);
    networks.delete(network);
    if (clients.size > 0) networks.set(network, clients);
    waiting -= 1;
    if (next !== undefined && performance.now() - next.since > maxWaitMilliseconds) {
      next.refuse(busy());
      startNext();
      return;
    }
    next?.start();
  }

  function refuseOne(newest: Requester): void {
    const network = longest(networks, countWaiting, newest.network);
    const clients = networks.get(network) ?? new Map<string, WaitingTask[]>();
    const client = longest(clients, (tasks) => tasks.length, newest.client);
    const tasks = clients.get(client) ?? [];
    const refused = tasks.pop();
    if (tasks.length === 0) clients.delete(client);
    if (clients.size === 0) networks.delete(network);
    waiting -= 1;
    refused?.refuse(busy());
  }

  return Object.assign(run, { waiting: () => waiting });
}

function busy(): AppError {
  return new AppError('BUSY', 'The service is busy. Try again in a moment.', { retryAfterSeconds: 5 });
}

function moveToEnd(clients: Map<string, WaitingTask[]>, client: string, tasks: WaitingTask[]): void {
  clients.delete(client);
  if (tasks.length > 0) clients.set(client, tasks);
}

function countWaiting(clients: Map<string, WaitingTask[]>): number {
  let sum = 0;
  for (const tasks of clients.values()) sum += tasks.length;
  return sum;
}

/** The key with the most waiting tasks; among several, the preferred one. */
function longest<Value>(map: Map<string, Value>, sizeOf: (value: Value) => number, preferred: string): string {
  let best = preferred;
  let most = map.has(preferred) ? sizeOf(map.get(preferred) as Value) : 0;
  for (const [key, value] of map) {
    if (sizeOf(value) <= most) continue;
    best = key;
    most = sizeOf(value);
  }
  return best;
}
