import { afterAll, beforeAll, expect, it } from 'vitest';
import { doctorHeader, doctorToken } from '../operators/doctor/check-proxies.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { testClient } from '../testing/factories.ts';
import { createEndpoints } from './answer-endpoint.ts';
import { cookieJar } from './cookies.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: false, environment: { TRUSTED_PROXIES: '1' } });
});
afterAll(() => test.close());

function ask(headers: Record<string, string>) {
  return createEndpoints(test.app)({
    method: 'GET',
    pathname: '/api/session',
    search: '',
    headers: new Headers(headers),
    cookies: cookieJar(undefined),
    client: testClient,
    signal: new AbortController().signal,
    language: () => 'en',
    readBytes: async () => Buffer.alloc(0),
  });
}

it('the doctor learns how many addresses arrived, and nobody else', async () => {
  const forwarded = { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' };
  const asked = await ask({ ...forwarded, [doctorHeader]: doctorToken(test.app) });
  expect(asked.headers).toMatchObject({ 'x-gatehouse-forwarded': '2' });
  for (const other of [forwarded, { ...forwarded, [doctorHeader]: 'guessed' }]) {
    expect((await ask(other)).headers).not.toHaveProperty('x-gatehouse-forwarded');
  }
});

it('a number of addresses that differs from TRUSTED_PROXIES is warned of once', async () => {
  const warnings = () => test.logged.filter(({ message }) => message.startsWith('X-Forwarded-For')).length;
  const before = warnings();
  await ask({ 'x-forwarded-for': '192.0.2.1' });
  await ask({});
  expect(warnings()).toBe(before);
  for (let count = 0; count < 3; count++) await ask({ 'x-forwarded-for': '192.0.2.1, 192.0.2.2' });
  expect(warnings()).toBe(1);
});
