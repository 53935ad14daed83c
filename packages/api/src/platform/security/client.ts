import { BlockList, isIPv6 } from 'node:net';
import type { Language } from '@gatehouse/languages/generated/languages';

/** The requester of work that waits in turn: a client, and the network that it belongs to. */
type Requester = { client: string; network: string };

export type ClientAddress = { address: string };

/** The client of a request: its address and browser, for rate limits and the audit log. */
export type Client = ClientAddress & {
  userAgent: string | null;
  /** The cookie `known` of a browser that signed in before. It grants no access: see `isKnownBrowser`. */
  knownBrowser?: string | null;
  /** The language of the browser, for mail that the request causes; the first of LOCALES where it is absent. */
  language?: Language;
};

const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

/**
 * Returns the key of a client, and as its network the /48 prefix of an IPv6 address, which is usually assigned to one
 * site and contains 65,536 client keys. The network of an IPv4 address is the address.
 */
export function requesterOf({ address }: ClientAddress): Requester {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return { client: bare, network: bare };

  const groups = groupsOf(bare);
  if (!mapped.check(bare, 'ipv6')) return { client: prefix(groups, 64), network: prefix(groups, 48) };
  const ipv4 = groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
  return { client: ipv4, network: ipv4 };
}

/**
 * Returns the key of a client for rate limits: the IPv4 address, or the /64 prefix of an IPv6
 * address, because a single subscriber has all addresses of a /64.
 */
export function clientKey(client: ClientAddress): string {
  return requesterOf(client).client;
}

/** Returns the network of an IPv6 address, or null for an IPv4 address, which has none but itself. */
export function clientNetwork(clientAddress: ClientAddress): string | null {
  const { client, network } = requesterOf(clientAddress);
  return network === client ? null : network;
}

function prefix(groups: number[], bits: 48 | 64): string {
  const kept = groups.slice(0, bits / 16).map((group) => group.toString(16));
  return `${kept.join(':')}::/${bits}`;
}

/** Returns the eight groups of an IPv6 address. URL converts every form, including embedded IPv4, to that of RFC 5952. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}
