import { isIP } from 'node:net';

const nobody = '0.0.0.0';

/**
 * Who sent a request. Each trusted proxy has appended the address that it was
 * called from, so the client's stands as many places from the right as there are
 * such proxies; everything left of it the client may have written itself. Where
 * that place is empty or no address, the connection's own counts.
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | string[] | undefined,
  hops: number,
): string {
  const own = plain(peer ?? '') ?? nobody;
  if (hops === 0 || forwarded === undefined) return own;

  const addresses = String(forwarded).split(',');
  return plain(addresses[addresses.length - hops] ?? '') ?? own;
}

/** Without port, brackets, zone and the IPv6 form of an IPv4 address; null when it is none. */
function plain(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(bare) ? bare.toLowerCase() : null;
}
