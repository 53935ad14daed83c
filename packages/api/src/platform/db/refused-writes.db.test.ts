import { afterAll, beforeAll, expect, it } from 'vitest';
import { readKey } from '../../auth/read-key.ts';
import { readSession, startSession } from '../../auth/sessions/session.ts';
import { signUp, signUpInput } from '../../auth/sign-up/sign-up.ts';
import { recordFailure } from '../../http/error-response.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeOwner, newEmail, testClient, testPassword } from '../../testing/factories.ts';
import { makeKey } from '../../testing/keys.ts';
import { minuteMilliseconds } from '../durations.ts';
import { toAppError } from '../errors.ts';
import { readMetrics } from '../telemetry/read-metrics.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ environment: { METRICS_TOKEN: 'a token of more than 24 characters' } });
});
afterAll(() => test.close());

/** Makes the database refuse writes as a standby does. Its connections end, because the setting holds for new ones. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const { sql } = test.app;
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`select current_database() as name`;
  await sql.begin('read write', (tx) =>
    tx.unsafe(`alter database ${name} set default_transaction_read_only = ${value}`),
  );
  // Again and again, because one that was being opened has the setting of before, and is not listed yet.
  await expect
    .poll(async () => {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.catch(() => {});
      const [shown] = await sql`show transaction_read_only`.catch(() => []);
      if (shown?.transaction_read_only !== value)
        await sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
      return shown;
    })
    .toEqual({ transaction_read_only: value });
}

const attempt = () =>
  signUp(test.app, signUpInput.parse({ email: newEmail(), password: testPassword }), testClient).then(
    () => null,
    (error: unknown) => {
      recordFailure({ app: test.app, requestId: 'request' }, error);
      return toAppError(error);
    },
  );

it('a database that refuses writes keeps the node ready and its reads answered', async () => {
  const { app } = test;
  const owner = await makeOwner(test);
  const { key } = await makeKey(test, { organisationId: owner.organisationId });
  const session = { userId: owner.userId, organisationId: owner.organisationId, fresh: true, client: testClient };
  const token = await startSession(app, session);
  // Half of the session's lifetime: the next read extends it, and stores that it and the key were used.
  test.advance(16 * 24 * 60 * minuteMilliseconds);

  await setReadOnly('on');
  expect(await readSession(app, token)).toMatchObject({ user: { id: owner.userId } });
  expect(await readKey(app, key)).toMatchObject({ organisation: { id: owner.organisationId } });
  expect(await app.databaseHealth.check()).toBeNull();

  const sentence = 'Nothing can be stored at the moment. Try again in a few minutes.';
  expect(await attempt()).toMatchObject({ code: 'BUSY', message: sentence, retryAfterSeconds: 10 });
  expect(await app.databaseHealth.check()).toBeNull();
  const { text } = await readMetrics(app);
  expect(Number(/^gatehouse_refused_writes_total\{reason="read_only"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(2);
  expect(test.logged.filter(({ message }) => message === 'The database refuses writes.')).toHaveLength(1);

  await setReadOnly('off');
  expect(await attempt()).toBeNull();
});

it('a full disk is told apart by its SQLSTATE', () => {
  const error = Object.assign(new Error('could not extend file'), { code: '53100' });
  expect(toAppError(new Error('a statement failed', { cause: error }))).toMatchObject({
    code: 'BUSY',
    message: 'Nothing can be stored at the moment. Try again in a few minutes.',
  });
});
