import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Requester } from '../client.ts';
import { fairQueue } from './fair-queue.ts';

type Task = Requester & { state: 'waiting' | 'running' | 'done' | 'refused'; end: () => void; overtakenBy: Task[] };

/** A queue whose tasks end on command, with the state of each task. */
function observedQueue(maxRunning: number, maxWaiting: number) {
  const run = fairQueue(maxRunning, maxWaiting);
  const tasks: Task[] = [];

  async function enqueue(requester: Requester): Promise<Task> {
    const task: Task = { ...requester, state: 'waiting', end: () => {}, overtakenBy: [] };
    tasks.push(task);
    void run(requester, () => {
      task.state = 'running';
      for (const other of tasks) if (other.state === 'waiting') other.overtakenBy.push(task);
      return new Promise<void>((resolve) => {
        task.end = resolve;
      });
    }).then(
      () => {
        task.state = 'done';
      },
      (error) => {
        expect(error).toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
        task.state = 'refused';
      },
    );
    await runMicrotasks();
    return task;
  }

  async function endOne(): Promise<void> {
    tasks.find(({ state }) => state === 'running')?.end();
    await runMicrotasks();
  }

  const inState = (state: Task['state']) => tasks.filter((task) => task.state === state);
  return { enqueue, endOne, tasks, inState, waiting: run.waiting };
}

function runMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const requesters = fc.record({ network: fc.constantFrom('a', 'b', 'c'), client: fc.constantFrom('1', '2', '3') });
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: requesters }, { weight: 1, arbitrary: fc.constant('end') }), {
  maxLength: 80,
});

it('serves networks in turn and the clients of each in turn, in the order of each client', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const queue = observedQueue(1, 1000);
      for (const step of history) await (typeof step === 'string' ? queue.endOne() : queue.enqueue(step as Requester));
      while (queue.inState('running').length > 0) await queue.endOne();

      for (const [at, task] of queue.tasks.entries()) {
        expect(task.state).toBe('done');
        const before = queue.tasks.slice(0, at);
        const ofClient = (each: Task) => each.network === task.network && each.client === task.client;
        const ahead = task.overtakenBy.filter(ofClient);
        // Only earlier tasks of this client run before it, and at most one task of each other per turn.
        expect(ahead.every((each) => before.includes(each))).toBe(true);
        for (const [key, others] of Object.entries(turnsOf(task))) {
          expect(others.length, key).toBeLessThanOrEqual(ownTurns(task, key) + 1);
        }
      }
    }),
    { numRuns: 60 },
  );
});

/** The tasks that ran while a task waited, by other network and by other client of its own network. */
function turnsOf(task: Task): Record<string, Task[]> {
  const others = task.overtakenBy.filter(({ network, client }) => network !== task.network || client !== task.client);
  return Object.groupBy(others, ({ network, client }) =>
    network === task.network ? `client ${client}` : `network ${network}`,
  ) as Record<string, Task[]>;
}

/** The number of turns that the task's own network, or client, had in that time. */
function ownTurns(task: Task, key: string): number {
  return task.overtakenBy.filter(
    ({ network, client }) => network === task.network && (key.startsWith('network') || client === task.client),
  ).length;
}

it('never runs or queues more than its limits, and refuses from the longest queue', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 6 }),
      async (history, maxRunning, room) => {
        const queue = observedQueue(maxRunning, room);
        for (const step of history) {
          if (typeof step === 'string') {
            await queue.endOne();
            continue;
          }
          const refusedBefore = queue.inState('refused').length;
          await queue.enqueue(step as Requester);
          const refused = queue.inState('refused');
          if (refused.length > refusedBefore) expectFromLongest(queue.inState('waiting'), refused);

          expect(queue.inState('running').length).toBeLessThanOrEqual(maxRunning);
          expect(queue.waiting()).toBe(queue.inState('waiting').length);
          expect(queue.waiting()).toBeLessThanOrEqual(room);
        }
        while (queue.inState('running').length > 0) await queue.endOne();
        expect(queue.tasks.every(({ state }) => state === 'done' || state === 'refused')).toBe(true);
      },
    ),
    { numRuns: 80 },
  );
});

/** Expects that the refused task belonged to a network with the most waiting tasks. */
function expectFromLongest(waiting: Task[], refused: Task[]): void {
  const count = (network: string) => waiting.filter((task) => task.network === network).length;
  const candidates = new Set(refused.map(({ network }) => network));
  const most = Math.max(0, ...waiting.map(({ network }) => count(network)));
  expect([...candidates].some((network) => count(network) + 1 >= most)).toBe(true);
}

it('runs a single request of another network next, whatever the length of one network’s queue', async () => {
  const queue = observedQueue(2, 200);
  for (let asked = 0; asked < 500; asked++) await queue.enqueue({ network: 'flood', client: `client ${asked % 50}` });
  const honest = await queue.enqueue({ network: 'elsewhere', client: 'honest' });
  expect(honest.state).toBe('waiting');
  await queue.endOne();
  await queue.endOne();
  expect(honest.state).toBe('running');
});

it('starts the next task after one that throws', async () => {
  const run = fairQueue(1, 0);
  const requester = { network: 'a', client: '1' };
  await expect(run(requester, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await run(requester, async () => 'next')).toBe('next');
});

it('a task whose turn comes too late is refused, and the next task runs', async () => {
  const maxWaitMilliseconds = 1_000;
  const run = fairQueue(1, 100, maxWaitMilliseconds);
  const requester = { client: 'a', network: 'n' };
  const first = Promise.withResolvers<string>();
  const ended = [run(requester, () => first.promise)];
  for (const name of ['late', 'late too']) ended.push(run(requester, async () => name));
  await new Promise((resolve) => setTimeout(resolve, maxWaitMilliseconds + 100));
  ended.push(run(requester, async () => 'in time'));
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
