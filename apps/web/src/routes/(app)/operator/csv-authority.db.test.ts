import { startSession } from '@gatehouse/api/auth/sessions/session';
import { cookieJar } from '@gatehouse/api/http/cookies';
import { authenticate, newRequestState } from '@gatehouse/api/http/open-request';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestSourceOf } from '#lib/server/request-source.ts';
import { GET as organisations } from './organisations.csv/+server.ts';
import { GET as people } from './people.csv/+server.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
  const { app } = test;
  // Six pages of each list: some are read before the client takes them.
  await app.sql`
    insert into users (id, email, created_at)
    select gen_random_uuid(), 'user' || number || '@company.example', now() from generate_series(1, 2600) as number`;
  await app.sql`
    insert into organisations (id, slug, created_at)
    select gen_random_uuid(), 'company-' || number, now() from generate_series(1, 2600) as number`;
});
afterAll(() => test.close());

type PeopleEvent = Parameters<typeof people>[0];

/** A request of a new operator's session. */
async function requestOfOperator(path: string) {
  const { app } = test;
  const { userId, organisationId } = await makeOwner(test);
  await app.sql`update users set operator = true where id = ${userId}`;
  const cookies = cookieJar(`session=${await startSession(app, { userId, organisationId, client: testClient })}`);
  const url = new URL(path, 'http://localhost:3999');
  const request = new Request(url);
  const locals = newRequestState(app) as App.Locals;
  const getClientAddress = () => testClient.address;
  const event = { locals, url, request, cookies, getClientAddress, isDataRequest: false } as unknown as PeopleEvent;
  await authenticate(locals, requestSourceOf(event));
  return { userId, event };
}

async function readToEnd(parts: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await parts.next()).done);
}

it.each([
  ['people.csv', people, 'update users set operator = false where id = $1'],
  ['people.csv', people, 'update users set suspended_at = now() where id = $1'],
  ['people.csv', people, 'delete from sessions where user_id = $1'],
  ['organisations.csv', organisations as unknown as typeof people, 'update users set operator = false where id = $1'],
])('%s ends in an error once its user is no operator any more', async (path, get, ending) => {
  const { userId, event } = await requestOfOperator(`/operator/${path}`);
  const response = await get(event);
  const parts = response.body?.values() as AsyncIterator<Uint8Array>;
  expect(String(Buffer.from((await parts.next()).value)).split('\r\n').length).toBeGreaterThan(500);

  await test.app.sql.unsafe(ending, [userId]);
  await expect(readToEnd(parts)).rejects.toBeDefined();
});
