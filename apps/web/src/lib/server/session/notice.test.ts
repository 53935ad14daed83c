import { cookieJar } from '@gatehouse/api/http/cookies';
import { expect, it } from 'vitest';
import type { Notice } from '#lib/notices/notice.ts';
import { notify, takeNotice } from './notice.ts';

type Jar = ReturnType<typeof cookieJar>;

/** A request to a service with this base URL, from a browser that has these cookies. */
function eventOf(cookies: Jar, method = 'GET', baseUrl = 'https://id.example.com') {
  const app = { config: { publicBaseUrl: baseUrl } };
  return { cookies, locals: { app }, request: new Request(baseUrl, { method }) } as unknown as Parameters<
    typeof takeNotice
  >[0];
}

const notice: Notice = {
  text: ['Die Rolle von ', { name: 'Zoë, „Žižka“ 李' }, ' gilt bis ', { day: '2026-12-01T00:00:00.000Z' }],
  tone: 'warn',
  action: { label: 'Undo', post: '?/undo', fields: { id: 'a;b' } },
};

it('a notice reaches the next page whole, in a cookie of this host alone that lives five minutes', () => {
  const cookies = cookieJar(undefined);
  notify(eventOf(cookies, 'POST'), notice);
  const [line = ''] = cookies.lines;
  expect(line).toMatch(/^__Host-notice=[\w-]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax$/);

  const next = cookieJar(line.split(';')[0]);
  expect(takeNotice(eventOf(next))).toMatchObject(notice);
  expect(next.lines).toEqual([expect.stringContaining('__Host-notice=; Max-Age=0')]);
  expect(takeNotice(eventOf(next))).toBeNull();
});

it.each([
  '',
  'x',
  '{"text":["a"]}',
  'bnVsbA',
  ...[null, {}, { text: 7 }, { text: [null] }, { text: [{ a: 1 }] }].map(encode),
])('a cookie that no form set says nothing: %j', (value) => {
  const cookies = cookieJar(`__Host-notice=${value}; notice=${encode(notice)}`);
  expect(takeNotice(eventOf(cookies))).toBeNull();
});

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
