import { isIP, isIPv4 } from 'node:net';

const unknownAddress = '0.0.0.0';

/**
 * Returns the IP address of the client. Each trusted proxy appends the address of its caller to
 * X-Forwarded-For, so with n proxies the client's address is the n-th entry from the right; the
 * client may have forged the entries before it. If that entry is missing or not an address, the
 * address of the connection is returned.
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | string[] | undefined,
  hops: number,
): string {
  const own = normalise(peer ?? '') ?? unknownAddress;
  if (hops === 0 || forwarded === undefined) return own;

  const addresses = String(forwarded).split(',');
  return normalise(addresses[addresses.length - hops] ?? '') ?? own;
}

/** Removes port, brackets, zone and the IPv6 prefix of an IPv4 address. Returns null if the text is not an address. */
function normalise(text: string): string | null {
  if (isIPv4(text)) return text;
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(bare) ? bare.toLowerCase() : null;
}
