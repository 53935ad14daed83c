import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalise, pathOf } from './canonical-request.ts';

function request(headers: Record<string, string>): IncomingMessage {
  return { headers } as unknown as IncomingMessage;
}

test('headers that claim an origin or a client address are overwritten', () => {
  const poisoned = request({
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-gatehouse-host': 'evil.example',
    'x-gatehouse-protocol': 'http',
    'x-gatehouse-address': '1.2.3.4',
  });
  canonicalise(poisoned, { publicBaseUrl: 'https://auth.company.example:8443' }, '10.0.0.1');

  expect(poisoned.headers).toMatchObject({
    'x-gatehouse-host': 'auth.company.example:8443',
    'x-gatehouse-protocol': 'https',
    'x-gatehouse-address': '10.0.0.1',
  });
});

test('without a canonical base URL the host does not resolve, and is never the host of the request', () => {
  const any = request({ host: 'evil.example' });
  canonicalise(any, { publicBaseUrl: null }, '10.0.0.1');

  expect(any.headers).toMatchObject({ 'x-gatehouse-host': 'unconfigured.invalid', 'x-gatehouse-protocol': 'https' });
});

test.each([
  [undefined, 'text/html'],
  ['*/*', 'text/html'],
  ['application/json', 'application/json'],
  ['text/html,*/*;q=0.8', 'text/html,*/*;q=0.8'],
])('a form post that accepts %j is answered as %j', (accept, expected) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...(accept === undefined ? {} : { accept }) };
  const post = { ...request(headers), method: 'POST' } as IncomingMessage;
  canonicalise(post, { publicBaseUrl: null }, '10.0.0.1');
  expect(post.headers.accept).toBe(expected);
});

test('a JSON post keeps what it accepts', () => {
  const post = { ...request({ 'content-type': 'application/json', accept: '*/*' }), method: 'POST' } as IncomingMessage;
  canonicalise(post, { publicBaseUrl: null }, '10.0.0.1');
  expect(post.headers.accept).toBe('*/*');
});

const targets: [target: string, path: string | null][] = [
  ['/billing?tier=silver', '/billing?tier=silver'],
  ['//evil.example/x', '//evil.example/x'],
  ['http://evil.example/billing?x=1', '/billing?x=1'],
  ['HTTPS://evil.example', '/'],
  ['/', '/'],
  ['//', '/'],
  ['/?x=/', '/?x=/'],
  ['/login?', '/login'],
  ['/login/', '/login'],
  ['/login//?return_to=%2F', '/login?return_to=%2F'],
  ['/login/.', '/login'],
  ['/login/%2e', '/login'],
  ['/login\\', '/login'],
  ['http://evil.example/login/?x=1', '/login?x=1'],
  ['*', null],
  ['@evil.example/', null],
  ['evil.example:443', null],
  ['', null],
];

test.each(targets)('the target %j is the path %j', (target, path) => {
  expect(pathOf(target)).toBe(path);
});

test('a path of plain characters equals the URL parser’s result', () => {
  const segment = fc.stringMatching(/^[\w.~%/?=&;:@!$'()*+,-]{0,6}$/);
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
      const target = `/${segments.join('/')}`;
      const { pathname, search } = new URL(`http://localhost${target}`);
      expect(pathOf(target)).toBe((pathname.replace(/(?<!\/)\/+$/, '') || '/') + search);
    }),
    { numRuns: 2000 },
  );
});
