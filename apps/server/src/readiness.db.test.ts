import { parseConfig } from '@gatehouse/api/platform/config';
import { freePort } from '@gatehouse/api/testing/free-ports';
import { expect, test } from 'vitest';
import { openHttpServer } from './http-server.ts';

test('/readyz answers 200, or 503 with the reason, also to HEAD, and refuses other methods', async () => {
  const port = await freePort();
  const server = await openHttpServer(parseConfig({ PORT: String(port) }));
  let reason: string | null = null;
  server.serve({
    api: () => null,
    pages: (_request, _response, next) => next(),
    readiness: async () => reason,
    countRefusal: () => {},
    logFailure: console.error,
  });
  const ask = (method = 'GET') => fetch(`http://127.0.0.1:${port}/readyz`, { method });

  const ready = await ask();
  expect([ready.status, await ready.json()]).toEqual([200, { ready: true }]);

  reason = 'ECONNREFUSED';
  const unready = await ask();
  const headers = ['retry-after', 'cache-control', 'x-content-type-options'].map((name) => unready.headers.get(name));
  expect([unready.status, ...headers]).toEqual([503, '5', 'no-store', 'nosniff']);
  expect(await unready.json()).toEqual({ ready: false, reason });
  expect((await ask('HEAD')).status).toBe(503);
  expect((await ask('POST')).status).toBe(405);
  await server.drain();
});
