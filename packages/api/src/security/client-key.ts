import { BlockList, isIPv6 } from 'node:net';

const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

/**
 * What stands for a client in limits: an IPv4 address, or the first 64 bits of an IPv6
 * one, since a single subscriber has all the addresses behind those.
 */
export function clientKey(address: string): string {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return bare;

  const groups = expand(bare);
  if (mapped.check(bare, 'ipv6')) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  }
  return prefix(groups, 64);
}

/**
 * The /48 of an IPv6 address, which is what a site is given as a rule, and which holds 65,536 of
 * the keys above. Null for an IPv4 address, whose key is as wide as its client gets.
 */
export function clientNetwork(address: string): string | null {
  const [bare = ''] = address.split('%');
  return isIPv6(bare) && !mapped.check(bare, 'ipv6') ? prefix(expand(bare), 48) : null;
}

function prefix(groups: number[], bits: 48 | 64): string {
  const kept = groups.slice(0, bits / 16).map((group) => group.toString(16));
  return `${kept.join(':')}::/${bits}`;
}

/** The eight groups of an IPv6 address. URL writes every form (embedded IPv4 as well) in the one of RFC 5952. */
function expand(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}
