import { createTestDatabase } from '@gatehouse/api/testing/database/database';
import type { RequestEvent } from '@sveltejs/kit';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let hooks: typeof import('./hooks.server.ts');
let close: (() => Promise<void>) | undefined;
beforeAll(async () => {
  const database = await createTestDatabase();
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('SMTP_URL', 'smtp://localhost:1');
  // A process has one App. Another test file may have opened it.
  vi.resetModules();
  hooks = await import('./hooks.server.ts');
  await hooks.init();
  const { openApp } = await import('@gatehouse/api/create-app');
  close = async () => {
    await (await openApp()).close();
    await database.drop();
  };
});
afterAll(async () => {
  await close?.();
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** A request as Kit passes it to the hook. */
function eventOf(path: string): RequestEvent {
  const url = new URL(path, 'http://localhost:3000');
  return {
    url,
    request: new Request(url, { headers: { 'accept-language': 'de' } }),
    route: { id: url.pathname },
    cookies: { get: () => undefined, getAll: () => [] },
    locals: {},
    isDataRequest: false,
    getClientAddress: () => '192.0.2.1',
  } as unknown as RequestEvent;
}

it('a redirect has the security headers and no policy of a page, and chooses no language', async () => {
  const event = eventOf('/auth/idp/callback');
  const resolve = async () => new Response(null, { status: 302, headers: { location: '/' } });
  const { status, headers } = await hooks.handle({ event, resolve });

  expect(status).toBe(302);
  expect(Object.fromEntries(headers)).toEqual({
    location: '/',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cache-control': 'no-store',
    'x-request-id': event.locals.requestId,
  });
  expect(event.locals.language).toBeUndefined();
});
