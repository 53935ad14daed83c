import { once } from 'node:events';
import net from 'node:net';
import { startSession } from '@gatehouse/api/auth/sessions/session';
import { createOperatorKey } from '@gatehouse/api/operators/keys';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, makeOwner, testClient } from '@gatehouse/api/testing/factories';
import type { Action, RequestEvent } from '@sveltejs/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../routes/(app)/operator/people/[person]/+page.server.ts';
import { cookieJar } from '../session/cookies.ts';
import { serveEndpoints } from '../testing/serve-endpoints.ts';
import { openContext } from './router-context.ts';
import { trpcEndpoint } from './trpc-endpoint.ts';

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

/** What takes a user's authority away, and the status of what the user requested. */
const endings = [
  ['the session has ended', 'delete from sessions where user_id = $1', 401],
  ['the user was suspended', 'update users set suspended_at = now() where id = $1', 401],
  [
    'the user was demoted',
    `with former as (update memberships set role = 'member' where user_id = $1)
    update users set operator = false where id = $1`,
    403,
  ],
] as const;

type Sent = { method: string; path: string; body: object };

/** Sends a request to an endpoint. The body follows once the principal was read and `meanwhile` has ended. */
async function answerOfLate(
  { method, path, body }: Sent,
  { token, header }: { token: string; header: string },
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number; challenge: string | undefined }> {
  const text = JSON.stringify(body);
  const socket = net.connect(Number(new URL(served.url).port), '127.0.0.1');
  const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${header}\r\nContent-Type: application/json`;
  socket.write(`${head}\r\nContent-Length: ${text.length}\r\n\r\n${text.slice(0, 1)}`);
  await expect.poll(() => test.app.recentTokens.has(token)).toBe(true);
  await meanwhile();
  socket.write(text.slice(1));
  const [answer] = await once(socket, 'data');
  socket.destroy();
  const [, challenge] = /^www-authenticate: (.*)$/im.exec(String(answer)) ?? [];
  return { status: Number(/^HTTP\/1.1 (\d+) /.exec(String(answer))?.[1]), challenge };
}

/** The event of a request to Kit whose body has not arrived, and what sends the body. */
async function eventWithoutBody(path: string, credential: { token?: string; key?: string }, type: string, params = {}) {
  const { app } = test;
  const sent = Promise.withResolvers<string>();
  const body = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode(await sent.promise));
      controller.close();
    },
  });
  const url = new URL(path, 'http://localhost:3999');
  const { token = '', key = null } = credential;
  const headers = { 'content-type': type };
  const request = new Request(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  const cookies = cookieJar(`session=${token}`);
  const accepted = { presentedKey: key, maxBodyBytes: 65_536 };
  const locals = { app, requestId: 'test', accepted, sessionEnded: false } as unknown as App.Locals;
  await openContext(locals, {
    method: 'POST',
    pathname: url.pathname,
    headers: request.headers,
    cookies,
    client: testClient,
    signal: request.signal,
    message: { complete: false },
  });
  const event = { locals, url, request, cookies, params, setHeaders: () => {} } as unknown as RequestEvent;
  return { event, send: sent.resolve };
}

async function newOperator() {
  const operator = await makeOwner(test, { operator: true });
  const { userId, organisationId } = operator;
  return { userId, token: await startSession(test.app, { userId, organisationId, client: testClient }) };
}

describe.each(endings)('after %s, a late body', (_, ending, status) => {
  it.each(['checkout', 'portal', 'cancel', 'resume'])('changes nothing at /api/billing/%s', async (name) => {
    const { organisationId } = await makeOwner(test);
    const { userId } = await addMember(test, organisationId, 'admin');
    const token = await startSession(test.app, { userId, organisationId, client: testClient });
    const sent = { method: 'POST', path: `/api/billing/${name}`, body: { tier: 'silver' } };
    const late = answerOfLate(sent, { token, header: `Cookie: session=${token}` }, () =>
      test.app.sql.unsafe(ending, [userId]),
    );
    expect(await late).toEqual({ status, challenge: undefined });
  });

  it('changes nothing at a procedure of operators', async () => {
    const [{ userId, token }, person] = [await newOperator(), await makeOwner(test)];
    const { event, send } = await eventWithoutBody('/api/trpc/operators.suspend', { token }, 'application/json');
    const answered = trpcEndpoint(event);
    await test.app.sql.unsafe(ending, [userId]);
    send(JSON.stringify({ user_id: person.userId }));
    expect((await answered).status).toBe(status);
  });

  it('changes nothing by a form of operators', async () => {
    const [{ userId, token }, person] = [await newOperator(), await makeOwner(test)];
    const form = 'application/x-www-form-urlencoded';
    const { event, send } = await eventWithoutBody('/operator', { token }, form, { person: person.userId });
    const answered = (actions.passwordLink as Action)(event);
    await test.app.sql.unsafe(ending, [userId]);
    send('a=b');
    expect(await answered).toMatchObject({ status, data: { link: null } });
  });
});

it.each([
  ['key was revoked', 'update api_keys set revoked_at = now() where id = $1', 401, 'Bearer error="invalid_token"'],
  [
    'organisation was suspended',
    'update organisations set suspended_at = now() where id = (select organisation_id from api_keys where id = $1)',
    403,
    undefined,
  ],
])('a late body counts no usage after the %s', async (_, ending, status, challenge) => {
  const { organisationId } = await makeOwner(test);
  const input = { name: 'Service', scope: 'WRITE' } as const;
  const { id, key } = await createOperatorKey(test.app, { organisationId }, input, { actorId: null });
  const path = '/api/usage/reserve';
  const body = { organisation: organisationId, meter: 'api_calls', idempotency_key: id };
  const credential = { token: key, header: `Authorization: Bearer ${key}` };
  const late = answerOfLate({ method: 'POST', path, body }, credential, () => test.app.sql.unsafe(ending, [id]));
  expect(await late).toEqual({ status, challenge });
});

it('a late body of a key that was revoked gets its challenge at the router too', async () => {
  const { organisationId } = await makeOwner(test);
  const input = { name: 'Service', scope: 'WRITE' } as const;
  const { id, key } = await createOperatorKey(test.app, { organisationId }, input, { actorId: null });
  const { event, send } = await eventWithoutBody('/api/trpc/usage.reserve', { key }, 'application/json');
  const answered = trpcEndpoint(event);
  await test.app.sql`update api_keys set revoked_at = now() where id = ${id}`;
  send('{}');
  const { status, headers } = await answered;
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
});

it('a form that arrives after the session has ended says that the user was signed out', async () => {
  const { userId, token } = await newOperator();
  const { event, send } = await eventWithoutBody('/operator', { token }, 'application/x-www-form-urlencoded');
  const answered = (actions.restore as Action)(event);
  await test.app.sql`delete from sessions where user_id = ${userId}`;
  send('a=b');
  expect(await answered).toMatchObject({ status: 401, data: { signedOut: true } });
});
