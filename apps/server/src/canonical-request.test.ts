import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOf, canonicalise, pathOf } from './canonical-request.ts';

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
  ['', 'text/html'],
  ['*/*', 'text/html'],
  ['*/*;q=0.8', 'text/html'],
  ['text/plain, */*', 'text/html'],
  ['text/plain', 'text/html'],
  ['application/*', 'text/html'],
  ['application/json;q=0', 'text/html'],
  ['application/json;q=0.5, */*', 'text/html'],
  ['application/jsonp, */*', 'text/html'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
  ['text/html, application/json', 'text/html'],
  ['application/json;q=0.5, text/html;q=0.9', 'text/html'],
  ['application/json', 'application/json'],
  ['application/json, text/plain, */*', 'application/json'],
  ['text/plain, application/json;q=0.9, */*;q=0.8', 'application/json'],
  ['application/json, text/html;q=0.9', 'application/json'],
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
  ['/api/organisations/acme/invitations/..', null],
  ['/api/organisations/acme/members/%2E%2e?x=1', null],
  ['/login/../api/session', null],
  ['/api/session/.', '/api/session'],
  ['http://evil.example/api\\..\\api/session', null],
  ['/api/organisations/..a/members/%252e%252e', '/api/organisations/..a/members/%252e%252e'],
  ['/api/users?email=/../', '/api/users?email=/../'],
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
      fc.pre(!pathname.startsWith('/api/'));
      expect(pathOf(target)).toBe((pathname.replace(/(?<!\/)\/+$/, '') || '/') + search);
    }),
    { numRuns: 2000 },
  );
});

const peers: [name: string, peer: string | undefined, forwarded: string | undefined, hops: number, client: string][] = [
  ['no trusted proxy: the header is ignored', '203.0.113.9', '198.51.100.1', 0, '203.0.113.9'],
  ['one proxy: the last address', '10.0.0.1', '198.51.100.1, 203.0.113.9', 1, '203.0.113.9'],
  ['two proxies: the last but one, never the first', '10.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
  ['fewer addresses than proxies: the connection', '10.0.0.1', '198.51.100.1', 2, '10.0.0.1'],
  ['no header: the connection', '10.0.0.1', undefined, 1, '10.0.0.1'],
  ['an empty header: the connection', '10.0.0.1', '', 1, '10.0.0.1'],
  ['an entry that is no address: the connection', '10.0.0.1', '1.1.1.1, unknown', 1, '10.0.0.1'],
  ['an entry with a line break: the connection', '10.0.0.1', '1.1.1.1\nx', 1, '10.0.0.1'],
  ['an IPv4 address mapped to IPv6', '::ffff:203.0.113.9', undefined, 0, '203.0.113.9'],
  ['IPv6 with brackets and a port', '10.0.0.1', '[2001:DB8::1]:4711', 1, '2001:db8::1'],
  ['IPv4 with a port', '10.0.0.1', '203.0.113.9:4711', 1, '203.0.113.9'],
  ['IPv6 with a zone', 'fe80::1%eth0', undefined, 0, 'fe80::1'],
  ['a closed connection', undefined, undefined, 0, '0.0.0.0'],
];

test.each(peers)('the address of a client: %s', (_name, peer, forwarded, hops, client) => {
  expect(addressOf(peer, forwarded, hops)).toBe(client);
});
