import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { paymentLeases } from '../../platform/db/schema/billing.ts';
import { timeLimits } from '../../platform/providers/payment/connection.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { withLease } from './lease.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false });
});
afterAll(() => running.close());
afterEach(() => {
  vi.restoreAllMocks();
});

/** The clock that measures timeouts, which tests can advance. */
function leaseClock() {
  let ahead = 0;
  const real = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead);
  return {
    advance: (seconds: number) => {
      ahead += seconds * 1000;
    },
  };
}

test('work under one name is serialised, work under different names is concurrent', async () => {
  const holders = new Map<string, number>();
  let together = 0;

  async function hold(name: string): Promise<void> {
    await withLease(running.app, name, async () => {
      holders.set(name, (holders.get(name) ?? 0) + 1);
      expect(holders.get(name)).toBe(1);
      together = Math.max(
        together,
        [...holders.values()].reduce((sum, count) => sum + count, 0),
      );
      await new Promise((resolve) => setTimeout(resolve, 15));
      holders.set(name, 0);
    });
  }
  await Promise.all(['one', 'two'].flatMap((name) => Array.from({ length: 12 }, () => hold(name))));
  expect(together).toBe(2);
  expect(await running.app.db.select().from(paymentLeases)).toEqual([]);
});

test('a lease is released after a failure', async () => {
  await expect(withLease(running.app, 'x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLease(running.app, 'x', async () => 'yes')).toBe('yes');
});

test('a lease expires after its holder crashed', async () => {
  const holder = '0199c0de-0000-7000-8000-000000000000';
  const endsAt = new Date(Date.now() + 300);
  await running.app.db.insert(paymentLeases).values({ name: 'crashed', holder, endsAt });
  expect(await withLease(running.app, 'crashed', async () => Date.now())).toBeGreaterThanOrEqual(endsAt.getTime());
});

test('no request starts after twenty seconds, so that the last one fits into the lease', async () => {
  const clock = leaseClock();
  await withLease(running.app, 'long', async (ask) => {
    const question = async () => ask((provider) => provider.prices.list({ limit: 1 }));
    // Far below the limit: the real time between these lines counts too.
    clock.advance(10);
    await question();
    clock.advance(11);
    await expect(question()).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });

    const [lease] = await running.app.sql`
      select extract(epoch from ends_at - clock_timestamp())::float as left from payment_leases where name = 'long'`;
    expect(20 + timeLimits.action.total / 1000).toBeLessThan(lease?.left);
  });
});

test('a caller waits twenty seconds for a lease that is taken', async () => {
  const clock = leaseClock();
  await withLease(running.app, 'busy', async () => {
    let ended = false;
    const other = withLease(running.app, 'busy', async () => {}).finally(() => {
      ended = true;
    });
    other.catch(() => {});
    // Far below the limit: the real time of the pause counts too.
    clock.advance(10);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(ended).toBe(false);
    clock.advance(11);
    await expect(other).rejects.toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
  });
});

test('without billing a lease is refused', async () => {
  const off = { ...running.app, payment: null };
  await expect(withLease(off, 'x', async () => 'yes')).rejects.toMatchObject({
    code: 'BILLING_UNAVAILABLE',
    message: 'Billing is not available on this deployment.',
  });
});
