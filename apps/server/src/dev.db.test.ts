import { freePort } from '@gatehouse/api/testing/free-ports';
import { runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { expect, test } from 'vitest';

test('an invalid variable stops the start, and prints its sentence alone', async () => {
  const { ended, output } = runProgram(new URL('dev.ts', import.meta.url), [], { LOG_LEVEL: 'loud' });

  expect((await ended).code).toBe(1);
  expect(output()).toMatch(/^LOG_LEVEL must be .*\n$/);
});

test('GET /healthz, REST endpoints and pages answer as in the built service', { timeout: 120_000 }, async () => {
  const port = await freePort();
  const { child, ended } = runProgram(new URL('dev.ts', import.meta.url), ['--mode', 'test'], {
    PORT: String(port),
    DATABASE_URL: process.env.TEST_DATABASE_URL,
  });
  const ask = (method: string, path = '/healthz') => fetch(`http://127.0.0.1:${port}${path}`, { method });

  await expect
    .poll(
      () =>
        ask('GET').then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 50_000 },
    )
    .not.toBe(0);
  const answer = await ask('GET');
  const refused = await ask('POST');
  const session = await ask('GET', '/api/session');
  const wrong = await ask('DELETE', '/api/session');
  const [nowhere, page] = [await ask('GET', '/api/nowhere'), await ask('GET', '/login')];
  child.kill('SIGTERM');
  await ended;

  expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect([session.status, await session.json()]).toEqual([401, { error: 'Sign in first.', code: 'UNAUTHENTICATED' }]);
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect([nowhere.status, page.status]).toEqual([404, 200]);
});
