import { afterAll, beforeAll, expect, it } from 'vitest';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { recordFailure } from '../../http/error-response.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { startAwakeClock } from '../../testing/awake-clock.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { startTcpProxy, type TcpProxy } from '../../testing/database/tcp-proxy.ts';
import { newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { toAppError } from '../errors.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: TcpProxy;
let test: TestApp;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  test = await startTestApp({
    environment: { DATABASE_URL: proxy.url(database.url) },
    timeouts: { statementSeconds: 1.5, backgroundStatementSeconds: 2, databaseQuietSeconds: 4 },
  });
});
afterAll(async () => {
  await test.close();
  await proxy.close();
  await database.drop();
});

function attempt(email: string): Promise<unknown> {
  return signUp(test.app, signUpInput.parse({ email, password: testPassword }), testClient).then(
    () => null,
    (error: unknown) => {
      recordFailure({ app: test.app, requestId: 'request' }, error);
      return toAppError(error);
    },
  );
}

const lines = (message: string) => test.logged.filter((entry) => entry.message === message);
const isReady = async () => (await test.app.databaseHealth.check()) === null;

it('a cut database is reported within two seconds and once in the log, and the node recovers without a restart', async () => {
  expect(await isReady()).toBe(true);
  proxy.cut();
  const awake = startAwakeClock();
  const email = newEmail();
  const refused = Promise.all([attempt(email), attempt(newEmail()), attempt(newEmail())]);
  expect(await test.app.databaseHealth.check()).toMatch(/^[A-Z_]+$/);
  expect(awake()).toBeLessThan(2_000);
  for (const error of await refused) expect(error).toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });

  proxy.restore();
  await expect.poll(isReady).toBe(true);
  expect(await attempt(email)).toBeNull();
  expect(await test.sandbox.mailbox.waitFor(email)).toBeDefined();
  await expect.poll(() => lines('The database is available again.')).toHaveLength(1);
  expect(lines('The database is unavailable.')).toHaveLength(1);
});

it('a deadlock and a timeout of the database are 503, and do not count against the database', async () => {
  await expect.poll(isReady).toBe(true);
  for (const code of ['40P01', '55P03', '57014']) {
    const error = await test.app.sql
      .unsafe(`do $$ begin raise exception 'ended' using errcode = '${code}'; end $$`)
      .catch((thrown: unknown) => thrown);
    expect(toAppError(error)).toMatchObject({ code: 'BUSY' });
  }
  expect(await isReady()).toBe(true);
});

// After 57P01 and 57P03 the probe's own connection decides.
const refusals = ['53200', '53300', '28P01', '28000', '58030', '57P01', '57P03'];
it.each(refusals)(
  'a statement that the database refuses with %s is a 503, and the probe names the code',
  async (code) => {
    await test.app.sql.unsafe(`
    create or replace function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused' using errcode = '${code}'; end $$;
    create or replace trigger refuse before insert on organisations for each row execute function refuse()`);
    expect(await attempt(newEmail())).toMatchObject({ code: 'BUSY', retryAfterSeconds: 5 });
    if (!code.startsWith('57')) expect(await test.app.databaseHealth.check()).toBe(code);
    await test.app.sql`drop trigger refuse on organisations`;
    expect(await attempt(newEmail())).toBeNull();
  },
);
