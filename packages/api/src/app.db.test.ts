import { expect, test } from 'vitest';
import { openDatabase } from './platform/db/client.ts';
import { startTestApp } from './testing/app.ts';
import { createTestDatabase } from './testing/database/database.ts';

test.each([
  ['off', true],
  ['on', false],
])('a start with RATE_LIMITS=%s warns: %s', async (limits, warns) => {
  const running = await startTestApp({ environment: { RATE_LIMITS: limits } });
  const warnings = running.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  await running.close();
  expect(warnings.some((message) => message.startsWith('RATE_LIMITS is off'))).toBe(warns);
});

test('a start does not wait for the rows of billing, which may take longer than a request may', async () => {
  const database = await createTestDatabase();
  const { sql, close } = openDatabase({ url: database.url, pool: 1, prepare: true });
  const { promise: started, resolve: isStarted } = Promise.withResolvers<void>();
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const lock = sql.begin(async (tx) => {
    await tx`lock table payment_customers, payment_subscriptions in access exclusive mode`;
    isLocked();
    await started;
  });
  await locked;
  const starting = startTestApp({ environment: { DATABASE_URL: database.url }, timeouts: { statementSeconds: 1 } });
  const first = await Promise.race([starting, new Promise((resolve) => setTimeout(resolve, 60_000, 'waits').unref())]);
  isStarted();
  await lock;
  const running = await starting;
  await running.close();
  await close();
  await database.drop();

  expect(first).toBe(running);
});
