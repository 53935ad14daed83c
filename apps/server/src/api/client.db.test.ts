import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startSession } from '@gatehouse/api/auth/sessions/session';
import { newKeyInput } from '@gatehouse/api/members/keys/store-key';
import { createOperatorKey } from '@gatehouse/api/operators/keys';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { makeOwner, testClient } from '@gatehouse/api/testing/factories';
import { freePort } from '@gatehouse/api/testing/free-ports';
import express from 'express';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { requireSession as forExpress } from '../../../../packages/client/src/adapters/express.ts';
import { requireSession as forHono } from '../../../../packages/client/src/adapters/hono.ts';
import { withSession } from '../../../../packages/client/src/adapters/next.ts';
import { createGatehouse, type Gatehouse, type Session } from '../../../../packages/client/src/client.ts';
import { startKitProduct } from './testing/kit-product.ts';
import { serveEndpoints } from './testing/serve-endpoints.ts';

let test: TestApp;
let served: Awaited<ReturnType<typeof serveEndpoints>>;
let owner: Awaited<ReturnType<typeof makeOwner>>;
let cookie: string;
let apiKey: string;
let gatehouse: Gatehouse;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  test = await startTestApp();
  served = await serveEndpoints(test.app);
  owner = await makeOwner(test);
  const { userId, organisationId } = owner;
  cookie = `session=${await startSession(test.app, { userId, organisationId, client: testClient })}`;
  const input = newKeyInput.parse({ name: 'Test', scope: 'WRITE' });
  const actor = { actorId: userId, client: testClient };
  apiKey = (await createOperatorKey(test.app, { organisationId: null }, input, actor)).key;
  gatehouse = createGatehouse({ url: served.url, apiKey });
});
afterAll(async () => {
  for (const end of ends) await end();
  test.app.changes.stop();
  await gatehouse.close();
  await served.close();
  await test.close();
});

it('answers who is signed in by the cookies of a request, and null without a session', async () => {
  expect(await gatehouse.sessions.verify(`other=1; ${cookie}`)).toMatchObject({ user: { id: owner.userId } });
  expect(await gatehouse.sessions.verify('session=nobody')).toBe(null);
  expect(await gatehouse.sessions.verify('')).toBe(null);
});

it('counts a repeated reservation once, and says why one is refused', async () => {
  const request = { organisation: owner.organisationId, meter: 'api_calls', idempotencyKey: randomUUID() };
  const first = await gatehouse.usage.reserve(request);
  expect(await gatehouse.usage.reserve(request)).toEqual(first);
  const refused = gatehouse.usage.reserve({ ...request, amount: 1_000_000, idempotencyKey: randomUUID() });
  await expect(refused).rejects.toMatchObject({ status: 403, code: 'LIMIT_REACHED', body: { meter: 'api_calls' } });
});

it('holds an amount until it is committed or released', async () => {
  const request = { organisation: owner.organisationId, meter: 'projects', expires: 60 };
  const one = await gatehouse.usage.reserve(request);
  const other = await gatehouse.usage.reserve(request);
  expect([one.used, other.used]).toEqual([1, 2]);
  expect(await gatehouse.usage.commit({ hold: one.hold })).toMatchObject({ used: 2 });
  expect(await gatehouse.usage.release({ hold: other.hold })).toEqual({ ...other, hold: undefined, used: 1 });
  await expect(gatehouse.usage.release({ hold: one.hold })).rejects.toMatchObject({ status: 409, code: 'CONFLICT' });
});

it('forgets an entitlement when the feed reports a change of the organisation', async () => {
  const named = async () => (await gatehouse.entitlements.get(owner.organisationId)).organisation.name;
  await named();
  // The feed has begun once its first answer has emptied the cache.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = await named();
  await owner.api.organisations.rename({ organisation_id: owner.organisationId, name: 'Renamed' });
  expect(before).not.toBe('Renamed');
  await vi.waitFor(async () => expect(await named()).toBe('Renamed'), { timeout: 30_000 });
});

it('reads the pages of organisations and members, and the history of a meter', async () => {
  const { organisations } = await gatehouse.organisations.list({ limit: 10 });
  expect(organisations.map(({ id }) => id)).toContain(owner.organisationId);
  const { members } = await gatehouse.members.list({ organisation: owner.organisationId });
  expect(members).toMatchObject([{ user: { id: owner.userId }, role: 'owner' }]);
  const { days } = await gatehouse.usage.read({ organisation: owner.organisationId, meter: 'api_calls', days: 3 });
  expect(days).toHaveLength(3);
});

type Ask = (headers: Record<string, string>) => Promise<Response>;
const answerOf = (session: Session | undefined) => Response.json({ id: session?.user.id });

/**
 * A product guarded by each adapter, in the real framework. A route handler of Next is a function from a
 * standard request to a standard response, and is called as one: Next is not installed.
 */
const products: Record<string, () => Ask> = {
  Hono: () => {
    const app = new Hono<{ Variables: { session: Session } }>();
    app.use(forHono(gatehouse, { origin: 'https://app.example.com' }));
    app.get('/notes', (c) => answerOf(c.get('session')));
    return async (headers) => app.request('http://internal/notes?a=1', { headers });
  },
  Express: () => async (headers) => {
    const app = express();
    app.use(forExpress(gatehouse, { origin: 'https://app.example.com' }));
    app.get('/notes', (_, response) => void response.json({ id: response.locals.session.user.id }));
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/notes?a=1`, { headers, redirect: 'manual' });
    server.close();
    return answer;
  },
  SvelteKit: () => {
    const starting = startKitProduct(served.url);
    ends.push(async () => (await starting).stop());
    return async (headers) => fetch(`${(await starting).url}/notes?a=1`, { headers, redirect: 'manual' });
  },
  Next: () => {
    const handler = withSession(gatehouse, (_, session) => answerOf(session), { origin: 'https://app.example.com' });
    return (headers) => handler(new Request('http://internal/notes?a=1', { headers }));
  },
};

describe.each(Object.keys(products))('a product with %s', (name) => {
  it('lets signed-in users through, redirects pages to sign-in, and answers scripts with 401', async () => {
    const ask = products[name]?.() as Ask;
    expect(await (await ask({ cookie })).json()).toEqual({ id: owner.userId });
    const page = await ask({ accept: 'text/html' });
    const back = encodeURIComponent('https://app.example.com/notes?a=1');
    expect([page.status, page.headers.get('location')]).toEqual([302, `${served.url}/login?return_to=${back}`]);
    const script = await ask({ accept: 'application/json' });
    expect([script.status, await script.json()]).toEqual([401, { error: 'Sign in first.', code: 'UNAUTHENTICATED' }]);
  });
});

it('runs the service of the README', async () => {
  const client = fileURLToPath(new URL('../../../../packages/client', import.meta.url));
  const readme = fs.readFileSync(`${client}/README.md`, 'utf8');
  const code = /```js\n([\s\S]*?)```/.exec(readme)?.[1]?.replace('@gatehouse/client', `${client}/src/client.ts`) ?? '';
  const port = await freePort();
  const env = { ...process.env, GATEHOUSE_URL: served.url, GATEHOUSE_API_KEY: apiKey, PORT: String(port) };
  const running = spawn(process.execPath, ['--input-type=module', '-e', code], { env, stdio: 'ignore' });
  try {
    const ask = async () => (await fetch(`http://127.0.0.1:${port}/`, { headers: { cookie } })).text();
    await vi.waitFor(async () => expect(await ask()).toContain(`Hello ${owner.email}`), { timeout: 30_000 });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(401);
  } finally {
    running.kill();
  }
});
