import { createRequire } from 'node:module';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

// Tests patches/postgres@*.patch on the real driver. Without the patch this array grows with every query.
const connections = 4;
const callers = 32;
const queriesEach = 100;
let sql: Sql;

beforeAll(() => {
  const url = new URL(process.env.TEST_DATABASE_URL ?? '');
  const host = url.searchParams.get('host');
  url.searchParams.delete('host');
  sql = postgres(url.href, { ...(host ? { host } : {}), max: connections, onnotice: () => {} });
});

afterAll(() => sql.end());

test('with more callers than connections, no search covers more entries than there are connections', async () => {
  await sql`select 1`;
  const searched = vi.spyOn(Array.prototype, 'indexOf');
  let longest = 0;
  searched.mockImplementation(function (this: unknown[], wanted: unknown, from?: number) {
    longest = Math.max(longest, this.length);
    return this.findIndex((each, index) => index >= (from ?? 0) && each === wanted);
  });

  try {
    await Promise.all(Array.from({ length: callers }, querySequentially));
  } finally {
    searched.mockRestore();
  }
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(connections);
});

async function querySequentially() {
  for (let i = 0; i < queriesEach; i++) await sql`select ${i}::int`;
}

type Queue = { length: number; push(x: number): number; shift(): number | undefined; remove(x: number): number | null };

const driver = createRequire(import.meta.url).resolve('postgres');
const builds = [
  ['src', driver.replace('cjs/src/index.js', 'src/queue.js')],
  ['cjs', driver.replace('index.js', 'queue.js')],
  ['cf', driver.replace('cjs/src/index.js', 'cf/src/queue.js')],
] as const;

test.each(builds)('the queue of the %s build keeps its order after any removal', async (_name, file) => {
  const { default: Queue } = (await import(file)) as { default: (initial?: number[]) => Queue };
  const queue = Queue([1, 2]);
  queue.push(3);

  expect(queue.shift()).toBe(1);
  queue.push(4);
  queue.push(5);
  expect([queue.remove(3), queue.remove(5), queue.remove(9)]).toEqual([3, 5, null]);
  expect(queue.length).toBe(2);
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([2, 4, undefined]);
  expect(queue.length).toBe(0);
});
