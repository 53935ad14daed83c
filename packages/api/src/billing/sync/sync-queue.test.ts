import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '../../platform/log.ts';
import { noMetrics } from '../../platform/telemetry/metrics.ts';
import { noTraces } from '../../platform/telemetry/traces.ts';
import { createSyncQueue } from './sync-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function start(sync: (id: string) => Promise<void>) {
  const retried: string[] = [];
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const queue = createSyncQueue({
    log,
    metrics: noMetrics,
    traces: noTraces,
    sync,
    retry: async (id) => void retried.push(id),
  });
  return { queue, retried };
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

test('requests for a subscription that waits are one sync, and one more follows a sync that runs', async () => {
  const synced: string[] = [];
  const { queue } = start(async (id) => {
    synced.push(id);
    await pause(100);
  });
  queue.request('sub_1');
  await vi.advanceTimersByTimeAsync(0);
  for (let each = 0; each < 10; each++) queue.request('sub_1');
  await vi.advanceTimersByTimeAsync(1000);

  expect(synced).toEqual(['sub_1', 'sub_1']);
  expect(queue.isIdle()).toBe(true);
});

test('a sync begins in a later turn of the event loop, so that the event is answered first', async () => {
  const synced: string[] = [];
  const { queue } = start(async (id) => void synced.push(id));
  queue.request('sub_1');
  for (let each = 0; each < 100; each++) await Promise.resolve();
  expect(synced).toEqual([]);
  expect(queue.isIdle()).toBe(false);

  await vi.advanceTimersByTimeAsync(0);
  expect(synced).toEqual(['sub_1']);
});

test('at most four subscriptions are synced at once, and never the same one twice', async () => {
  const running: string[] = [];
  let most = 0;
  const { queue } = start(async (id) => {
    expect(running).not.toContain(id);
    running.push(id);
    most = Math.max(most, running.length);
    await pause(10);
    running.splice(running.indexOf(id), 1);
  });
  for (let each = 0; each < 60; each++) queue.request(`sub_${each % 15}`);
  await vi.advanceTimersByTimeAsync(5000);

  expect(most).toBe(4);
  expect(queue.isIdle()).toBe(true);
});

test('the provider gets at most 20 requests a second, and a flood leaves the rest to the sweep', async () => {
  let synced = 0;
  const { queue } = start(async () => {
    synced += 1;
  });
  for (let each = 0; each < 5000; each++) queue.request(`sub_${each}`);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(synced).toBeGreaterThan(190);
  expect(synced).toBeLessThanOrEqual(220);

  await vi.advanceTimersByTimeAsync(100_000);
  expect(synced).toBeLessThanOrEqual(1020);
  expect(queue.isIdle()).toBe(true);
});

test('syncs by jobs share the 20 requests a second', async () => {
  let synced = 0;
  const { queue } = start(async () => {
    synced += 1;
  });
  const job = async () => {
    for (;;) {
      await queue.turn();
      synced += 1;
    }
  };
  for (let each = 0; each < 4; each++) void job();
  for (let each = 0; each < 1000; each++) queue.request(`sub_${each}`);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(synced).toBeGreaterThan(190);
  expect(synced).toBeLessThanOrEqual(220);
});

test('a failed sync is retried, and the other syncs are carried out', async () => {
  const { queue, retried } = start(async (id) => {
    if (id === 'sub_1') throw new Error('no answer');
  });
  for (const id of ['sub_1', 'sub_2']) queue.request(id);
  await vi.advanceTimersByTimeAsync(1000);

  expect(retried).toEqual(['sub_1']);
  expect(queue.isIdle()).toBe(true);
});

test('stopping starts nothing more and waits for what runs, ten seconds at most', async () => {
  const synced: string[] = [];
  const { queue } = start(async (id) => {
    await pause(500);
    synced.push(id);
  });
  for (let each = 1; each <= 6; each++) queue.request(`sub_${each}`);
  await vi.advanceTimersByTimeAsync(0);
  const stopped = queue.stop();
  await vi.advanceTimersByTimeAsync(500);
  await stopped;
  queue.request('sub_7');

  expect(synced).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(5000);
  expect(synced).toHaveLength(4);
});
