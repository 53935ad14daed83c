import { afterAll, beforeAll, expect, it } from 'vitest';
import { limitKey } from '../auth/limit-key.ts';
import { startSession } from '../auth/sessions/session.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeOwner, testClient } from '../testing/factories.ts';
import { makeKey } from '../testing/keys.ts';
import { cookieJar } from './cookies.ts';
import { newRequestState, openRequest } from './open-request.ts';
import type { RequestSource, RequestState } from './request.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** A request whose body arrives when `send` is called. */
function lateRequest(headers: Record<string, string>, change: Partial<RequestSource> = {}, app = test.app) {
  const arrived = Promise.withResolvers<Buffer>();
  const source: RequestSource = {
    method: 'POST',
    pathname: '/api/usage/reserve',
    headers: new Headers(headers),
    cookies: cookieJar(headers.cookie),
    client: testClient,
    signal: new AbortController().signal,
    language: () => 'en',
    readBytes: () => arrived.promise,
    ...change,
  };
  const state = newRequestState(app);
  return { state, opened: openRequest(state, source, ['POST']), send: () => arrived.resolve(Buffer.from('{}')) };
}

const endings: [
  what: string,
  ending: string,
  left: (principal: RequestState['principal']) => unknown,
  expected: unknown,
][] = [
  ['the session has ended', 'delete from sessions where user_id = $1', (principal) => principal, null],
  ['the user was suspended', 'update users set suspended_at = now() where id = $1', (principal) => principal, null],
  [
    'the user was demoted',
    "update memberships set role = 'viewer' where user_id = $1",
    (principal) => principal?.kind === 'user' && principal.role,
    'viewer',
  ],
];

it.each(endings)('after %s a body that arrives late has no more authority', async (_, ending, left, expected) => {
  const { userId, organisationId } = await makeOwner(test);
  const token = await startSession(test.app, { userId, organisationId, client: testClient });
  const { state, opened, send } = lateRequest({ cookie: `session=${token}` });
  await test.app.sql.unsafe(ending, [userId]);
  send();
  await opened;
  expect(left(state.principal)).toEqual(expected);
  expect(String(state.body)).toBe('{}');
});

it('a key that is revoked before the body arrives is refused', async () => {
  const { id, key } = await makeKey(test);
  const { opened, send } = lateRequest({ authorization: `Bearer ${key}` });
  await test.app.sql`update api_keys set revoked_at = now() where id = ${id}`;
  send();
  await expect(opened).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

it('checks method, announced size, and origin, in this order, and reads no body before the first two', async () => {
  const foreign = { origin: 'https://evil.example', 'content-length': '70000' };
  await expect(lateRequest(foreign, { method: 'DELETE' }).opened).rejects.toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  await expect(lateRequest(foreign).opened).rejects.toMatchObject({ code: 'TOO_LARGE' });
  const small = lateRequest({ ...foreign, 'content-length': '2' });
  small.send();
  await expect(small.opened).rejects.toMatchObject({ code: 'FOREIGN_ORIGIN' });
});

it('the hundred and first request in a second with one key is refused, and another key’s is not', async () => {
  const [busy, other] = [await makeKey(test), await makeKey(test)];
  const app = { ...test.app, config: { ...test.app.config, rateLimits: true } };
  const ask = async ({ key }: typeof busy) => {
    const { opened, send } = lateRequest({ authorization: `Bearer ${key}` }, {}, app);
    send();
    return opened.then(
      () => 'answered',
      (error) => [error.code, error.retryAfterSeconds],
    );
  };
  const count = () => limitKey(app, busy.principal);
  // A second may end between the two lines, so they are repeated.
  await expect
    .poll(async () => {
      await Promise.allSettled(Array.from({ length: 100 }, count));
      return ask(busy);
    })
    .toEqual(['TOO_MANY', 1]);
  expect(await ask(other)).toBe('answered');
  await expect.poll(() => ask(busy)).toBe('answered');
});
