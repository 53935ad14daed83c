import { expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

const cases: [name: string, peer: string | undefined, forwarded: string | undefined, hops: number, client: string][] = [
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

test.each(cases)('%s', (_name, peer, forwarded, hops, client) => {
  expect(clientAddress(peer, forwarded, hops)).toBe(client);
});
