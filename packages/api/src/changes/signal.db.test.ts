import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../app.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { startAwakeClock } from '../testing/awake-clock.ts';
import { changesInput, readChanges } from './read-changes.ts';
import { maxWaiting } from './signal.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: false });
});
afterAll(() => test.close());

type Polling = { wait?: number; signal?: AbortSignal; app?: App };

const poll = async (callerId: string, { wait = 30, signal, app = test.app }: Polling = {}) => {
  const input = changesInput.parse({ wait });
  return readChanges(app, { reads: 'deployment' }, input, { callerId, signal, mayStillRead: async () => true });
};

/** Starts as many waiting requests as one caller may have. */
async function fill(callerId: string) {
  const controller = new AbortController();
  const { changes } = test.app;
  let waiting = 0;
  const wait: typeof changes.wait = (...asked) => {
    waiting += 1;
    return changes.wait(...asked);
  };
  const app = { ...test.app, changes: { ...changes, wait } };
  const polls = Array.from({ length: maxWaiting }, () => poll(callerId, { signal: controller.signal, app }));
  await expect.poll(() => waiting).toBe(maxWaiting);
  return { abort: () => controller.abort(), polls };
}

it('a caller has at most 50 waiting requests; requests of others, and requests that do not wait, are answered', async () => {
  const { abort, polls } = await fill('one');
  const refused = await poll('one').catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'TOO_MANY', retryAfterSeconds: 5 });
  expect((await poll('one', { wait: 0 })).changes).toEqual([]);
  expect((await poll('other', { wait: 1 })).changes).toEqual([]);
  abort();
  await Promise.all(polls);
});

it('a request that is aborted no longer counts at once, and sends no more statements', async () => {
  const { abort, polls } = await fill('two');
  let statements = 0;
  test.app.sql.options.debug = () => {
    statements += 1;
  };
  const awake = startAwakeClock();
  abort();
  await Promise.all(polls);
  test.app.sql.options.debug = false;
  expect(awake()).toBeLessThan(10_000);
  expect(statements).toBeLessThan(maxWaiting);
  expect((await poll('two', { wait: 1 })).changes).toEqual([]);
});
