import { AppError } from '../errors.ts';
import { message } from '../messages.ts';
import { type ClientAddress, requesterOf } from './client.ts';

type Waiting = { network: string; start: () => void; refuse: (error: AppError) => void; since: number };

/**
 * Runs at most `maxRunning` tasks at a time; the tasks of other requests wait. Clients take turns, so one that floods
 * the queue delays each other one by a task at a time.
 *
 * A task waits only while all that wait, those of its network and those of its client are together fewer than
 * `maxWaiting`. So a client alone gets a third of the places and a network a half, and some stay free for others. A task
 * whose turn comes after `maxWaitMilliseconds` is refused: its caller has probably given up. (p-limit has neither turns
 * nor bounds.)
 *
 * @throws AppError BUSY, with the seconds to wait, from a call of the returned function whose task is refused.
 */
export function createHashQueue(maxRunning: number, maxWaiting: number, maxWaitMilliseconds: number) {
  /** By client, in the order of their turns. */
  const clients = new Map<string, Waiting[]>();
  let running = 0;

  async function run<Result>(requester: ClientAddress, task: () => Promise<Result>): Promise<Result> {
    if (running < maxRunning) running += 1;
    else await turnOf(requester);
    try {
      return await task();
    } finally {
      startNext();
    }
  }

  function turnOf(address: ClientAddress): Promise<void> {
    const { client, network } = requesterOf(address);
    const all = [...clients.values()].flat();
    const ofNetwork = all.filter((each) => each.network === network);
    const ofClient = clients.get(client) ?? [];
    if (all.length + ofNetwork.length + ofClient.length >= maxWaiting) throw busy();

    return new Promise((start, refuse) => {
      clients.set(client, [...ofClient, { network, start, refuse, since: performance.now() }]);
    });
  }

  /** Starts the next task in place of one that ended. The client that had the turn moves to the end. */
  function startNext(): void {
    const [first] = clients;
    if (first === undefined) {
      running -= 1;
      return;
    }

    const [client, [next, ...later]] = first;
    clients.delete(client);
    if (later.length > 0) clients.set(client, later);
    if (next !== undefined && performance.now() - next.since > maxWaitMilliseconds) {
      next.refuse(busy());
      startNext();
      return;
    }
    next?.start();
  }

  return Object.assign(run, { waiting: () => [...clients.values()].flat().length });
}

function busy(): AppError {
  return new AppError('BUSY', message('busy'), { retryAfterSeconds: 5 });
}
