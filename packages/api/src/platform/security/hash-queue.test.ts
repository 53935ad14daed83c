import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createHashQueue } from './hash-queue.ts';

const maxRunning = 2;
const maxWaiting = 30;
const maxWaitMilliseconds = 1_000;

/** A queue whose tasks end on command, with the addresses of those that wait, run, have started and were refused. */
function observedQueue() {
  const run = createHashQueue(maxRunning, maxWaiting, maxWaitMilliseconds);
  const started: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];

  async function enqueue(address: string) {
    const task = () => {
      started.push(address);
      return new Promise<void>((end) => ends.push(end));
    };
    run({ address }, task).catch((error) => {
      expect(error).toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
      refused.push(address);
    });
    await settled();
  }
  async function endOne() {
    ends.shift()?.();
    await settled();
  }
  return { enqueue, endOne, started, refused, running: () => ends.length, waiting: run.waiting };
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1'];
const steps = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...addresses) }, fc.constant('end')), {
  maxLength: 120,
});

it('never runs or queues more than its limits, runs or refuses every task, and idles only when none waits', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const queue = observedQueue();
      for (const step of history) {
        await (step === 'end' ? queue.endOne() : queue.enqueue(step));
        expect(queue.running()).toBeLessThanOrEqual(maxRunning);
        expect(queue.waiting()).toBeLessThan(maxWaiting);
        if (queue.running() < maxRunning) expect(queue.waiting()).toBe(0);
      }
      while (queue.running() > 0) await queue.endOne();
      const enqueued = history.filter((step) => step !== 'end');
      expect([...queue.started, ...queue.refused].sort()).toEqual(enqueued.sort());
    }),
    { numRuns: 60 },
  );
});

it('a client that floods the queue gets a third of its places, a network of many a half, and others find one', async () => {
  const queue = observedQueue();
  for (let at = 0; at < 100; at++) await queue.enqueue('192.0.2.1');
  expect(queue.waiting()).toBe(maxWaiting / 3);
  for (let at = 0; at < 100; at++) await queue.enqueue(`2001:db8:0:${at}::1`);
  const { length } = queue.refused;
  await queue.enqueue('198.51.100.1');
  expect(queue.refused).toHaveLength(length);

  const other = observedQueue();
  for (let at = 0; at < 100; at++) await other.enqueue(`2001:db8:0:${at}::1`);
  expect(other.waiting()).toBe(maxWaiting / 2);
});

it('clients take turns, so one request of another client runs after one of a flood', async () => {
  const queue = observedQueue();
  for (let at = 0; at < 10; at++) await queue.enqueue('192.0.2.1');
  await queue.enqueue('192.0.2.2');
  await queue.endOne();
  await queue.endOne();
  expect(queue.started.slice(maxRunning)).toEqual(['192.0.2.1', '192.0.2.2']);
});

it('starts the next task after one that throws', async () => {
  const run = createHashQueue(1, 1, maxWaitMilliseconds);
  const client = { address: '192.0.2.1' };
  await expect(run(client, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await run(client, async () => 'next')).toBe('next');
});

it('a task whose turn comes too late is refused, and the next task runs', async () => {
  const run = createHashQueue(1, maxWaiting, maxWaitMilliseconds);
  const client = { address: '192.0.2.1' };
  const first = Promise.withResolvers<string>();
  const ended = [run(client, () => first.promise)];
  for (const name of ['late', 'late too']) ended.push(run(client, async () => name));
  await new Promise((resolve) => setTimeout(resolve, maxWaitMilliseconds + 100));
  ended.push(run(client, async () => 'in time'));
  first.resolve('first');
  const results = await Promise.allSettled(ended);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.code))).toEqual([
    'first',
    'BUSY',
    'BUSY',
    'in time',
  ]);
  expect(run.waiting()).toBe(0);
});
