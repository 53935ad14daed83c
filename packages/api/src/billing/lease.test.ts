import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentLeases } from '../db/schema.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { withLease } from './lease.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());

test('conversations of one name happen one after the other, those of others beside them', async () => {
  const talking = new Map<string, number>();
  let together = 0;

  async function talk(name: string): Promise<void> {
    await withLease(running.app, name, async () => {
      talking.set(name, (talking.get(name) ?? 0) + 1);
      expect(talking.get(name)).toBe(1);
      together = Math.max(
        together,
        [...talking.values()].reduce((sum, count) => sum + count, 0),
      );
      await new Promise((resolve) => setTimeout(resolve, 15));
      talking.set(name, 0);
    });
  }
  await Promise.all(['one', 'two'].flatMap((name) => Array.from({ length: 12 }, () => talk(name))));
  expect(together).toBe(2);
  expect(await running.app.db.select().from(paymentLeases)).toEqual([]);
});

test('one that failed is given back', async () => {
  await expect(withLease(running.app, 'x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLease(running.app, 'x', async () => 'yes')).toBe('yes');
});

test('one whose holder crashed ends by itself', async () => {
  const holder = '0199c0de-0000-7000-8000-000000000000';
  await running.app.db.insert(paymentLeases).values({ name: 'crashed', holder, endsAt: new Date(Date.now() + 300) });
  const began = performance.now();
  expect(await withLease(running.app, 'crashed', async () => 'yes')).toBe('yes');
  expect(performance.now() - began).toBeGreaterThan(200);
});

test('without billing there is nobody to talk with', async () => {
  const off = { ...running.app, payment: null };
  await expect(withLease(off, 'x', async () => 'yes')).rejects.toMatchObject({
    code: 'BILLING_UNAVAILABLE',
    message: 'Billing is not available on this deployment.',
  });
});
