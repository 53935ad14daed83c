import { startSession } from '@gatehouse/api/auth/sessions/session';
import { hourMilliseconds } from '@gatehouse/api/platform/durations';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { makeKey } from '@gatehouse/api/testing/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveEndpoints } from './testing/serve-endpoints.ts';

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
beforeAll(async () => {
  test = await startTestApp();
  served = await serveEndpoints(test.app);
});
afterAll(async () => {
  await served.close();
  await test.close();
});

async function ask(method: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(`${served.url}/api/session`, { method, headers })).status;
}

it('HEAD does not extend a session nor record its use, and does not end the sessions of a closed account', async () => {
  const { userId, organisationId } = await makeOwner(test);
  const cookie = `session=${await startSession(test.app, { userId, organisationId, client: testClient })}`;
  const state = () => test.app.sql`
    select sessions.*, last_seen_at from sessions join memberships using (user_id)
    where user_id = ${userId} order by sessions.id`;
  test.advance(2 * hourMilliseconds);
  const before = await state();

  expect(await ask('HEAD', { cookie })).toBe(200);
  expect(await state()).toEqual(before);
  expect(await ask('GET', { cookie })).toBe(200);
  expect(await state()).not.toEqual(before);

  await test.app.sql`update users set suspended_at = now() where id = ${userId}`;
  expect(await ask('HEAD', { cookie })).toBe(401);
  expect(await state()).toHaveLength(before.length);
  expect(await ask('GET', { cookie })).toBe(401);
  expect(await state()).toEqual([]);
});

it('HEAD does not record the use of a key', async () => {
  const { id, key } = await makeKey(test);
  const authorization = `Bearer ${key}`;
  const state = () => test.app.sql`select last_used_at from api_keys where id = ${id}`;
  test.advance(2 * hourMilliseconds);
  const before = await state();

  await ask('HEAD', { authorization });
  expect(await state()).toEqual(before);
  await ask('GET', { authorization });
  expect(await state()).not.toEqual(before);
});
