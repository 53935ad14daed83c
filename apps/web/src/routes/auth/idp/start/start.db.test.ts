import { startTestApp } from '@gatehouse/api/testing/app';
import { testClient } from '@gatehouse/api/testing/factories';
import { expect, it } from 'vitest';
import { GET } from './+server.ts';

it.each([
  ['off', { IDP_CLIENT_ID: '' }, '/login'],
  ['on', {}, '/login?error=idp'],
])(
  'with the feature %s and no database, a start with a return URL leads to /login as interface §4 says',
  async (_state, environment, location) => {
    const { app, close } = await startTestApp({
      environment: { RETURN_ORIGINS: 'https://product.example', ...environment },
      work: false,
    });
    await close();

    const url = new URL('/auth/idp/start?return_to=https://product.example/notes', 'http://localhost:3999');
    const locals = { app, client: testClient, requestId: 'test' };
    const event = { url, request: new Request(url), locals, cookies: { get: () => undefined } };
    await expect(GET(event as unknown as Parameters<typeof GET>[0])).rejects.toMatchObject({ status: 302, location });
  },
);
