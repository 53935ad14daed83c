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

type Query = { id: number };
type Queue = { length: number; push(x: Query): Query; shift(): Query | undefined; remove(x: Query): Query | null };

const driver = createRequire(import.meta.url).resolve('postgres');
const builds = [
  ['src', driver.replace('cjs/src/index.js', 'src/queue.js')],
  ['cjs', driver.replace('index.js', 'queue.js')],
  ['cf', driver.replace('cjs/src/index.js', 'cf/src/queue.js')],
] as const;

test.each(builds)('the queue of the %s build keeps its order after any removal', async (_name, file) => {
  const { default: Queue } = (await import(file)) as { default: (initial?: Query[]) => Queue };
  const [first, second, third] = [{ id: 1 }, { id: 2 }, { id: 3 }] as const;
  const [fourth, fifth, absent] = [{ id: 4 }, { id: 5 }, { id: 9 }] as const;
  const queue = Queue([first, second]);
  queue.push(third);

  expect(queue.shift()).toBe(first);
  queue.push(fourth);
  queue.push(fifth);
  expect([queue.remove(third), queue.remove(fifth), queue.remove(absent)]).toEqual([third, fifth, null]);
  expect(queue.length).toBe(2);
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([second, fourth, undefined]);
  expect(queue.length).toBe(0);
});
