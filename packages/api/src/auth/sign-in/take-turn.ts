import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';

const waitingAtMost = 5;
const second = 1000;

/** The end of the last turn, and how many turns there are with the one that runs, by whom they belong to. */
const queues = new Map<string, { last: Promise<unknown>; turns: number }>();

/**
 * Runs proofs of one key one after the other, and answers one that fails a full second after its turn began, or the next
 * full second where it took longer. While hashes of other systems are stored, which take another time to compare than
 * our own, neither the time of an answer nor that of parallel ones tells whether an address has one. Turns are those of
 * this process: on several nodes as many proofs run at once, each of which keeps its second.
 *
 * @throws AppError TOO_MANY at once if five wait; what `prove` throws.
 */
export async function takeTurn<Result>(key: string, prove: () => Promise<Result>): Promise<Result> {
  const queue = queues.get(key) ?? { last: Promise.resolve(), turns: 0 };
  if (queue.turns > waitingAtMost) {
    throw new AppError('TOO_MANY', message('too_many_attempts'), { retryAfterSeconds: queue.turns });
  }

  const turn = queue.last.then(() => failInFullSeconds(prove));
  queue.last = turn.catch(() => {});
  queue.turns += 1;
  queues.set(key, queue);
  try {
    return await turn;
  } finally {
    queue.turns -= 1;
    if (queue.turns === 0) queues.delete(key);
  }
}

async function failInFullSeconds<Result>(prove: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  try {
    return await prove();
  } catch (error) {
    const took = performance.now() - began;
    await delay(Math.ceil(took / second) * second - took);
    throw error;
  }
}
