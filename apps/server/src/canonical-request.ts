import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import type { Config } from '@gatehouse/api/platform/config';

const protocolHeader = 'x-gatehouse-protocol';
const hostHeader = 'x-gatehouse-host';
const addressHeader = 'x-gatehouse-address';

/**
 * Configures Kit's handler to trust only the headers that `canonicalise` writes. Call it before
 * the handler is imported.
 */
export function nameHeaders(): void {
  process.env.PROTOCOL_HEADER = protocolHeader;
  process.env.HOST_HEADER = hostHeader;
  process.env.ADDRESS_HEADER = addressHeader;
  process.env.BODY_SIZE_LIMIT = '1M';
  delete process.env.PORT_HEADER;
}

/**
 * Overwrites the headers that carry a request's origin and client address. The application sees
 * the configured origin whatever Host and X-Forwarded-* contain, and without a configured origin
 * a host name that does not resolve.
 */
export function canonicalise(
  request: IncomingMessage,
  { publicBaseUrl }: Pick<Config, 'publicBaseUrl'>,
  clientAddress: string,
): void {
  const base = new URL(publicBaseUrl ?? 'https://unconfigured.invalid');
  request.headers[protocolHeader] = base.protocol.slice(0, -1);
  request.headers[hostHeader] = base.host;
  request.headers[addressHeader] = clientAddress;
  if (isFormPost(request))
    request.headers.accept = asksForJson(request.headers.accept) ? 'application/json' : 'text/html';
}

/** Whether a request posts the fields of a form. */
function isFormPost({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(headers['content-type'] ?? '')
  );
}

/**
 * Whether a request asks for JSON by name, and for no page rather than that. Kit answers a form action in JSON of its own,
 * with status 200 for a redirect, unless HTML is preferred: its own scripts ask for that by name. Programs that post forms
 * accept anything, and expect what a browser gets.
 */
function asksForJson(accept = ''): boolean {
  const ranges = accept.toLowerCase().split(',').map(mediaRange);
  const place = ranges.findIndex(({ range }) => range === 'application/json');
  const json = ranges[place];
  if (json === undefined || !(json.weight > 0)) return false;

  return !ranges.some(({ range, weight }, index) => {
    if (range === 'text/html' && index < place) return weight >= json.weight;
    return ['text/html', 'text/*', '*/*'].includes(range) && weight > json.weight;
  });
}

/** Reads one part of an Accept header (RFC 9110 §12.5.1). */
function mediaRange(part: string): { range: string; weight: number } {
  const [range = '', ...parameters] = part.split(';').map((each) => each.trim());
  const weight = parameters.find((each) => each.startsWith('q='));
  return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
}

/**
 * Returns the path of a request target, or null if the target is neither a path nor an absolute
 * URL. A server must accept the absolute form (RFC 9112 §3.2.2), and Kit would append it to the
 * origin. The path is parsed by the URL Standard (§4.4), and its trailing slashes are removed:
 * Kit would redirect before its hook has set any header. Null for a path of the API with a segment of two dots as
 * well: what a program put in place of an id must not name what the id is a part of.
 */
export function pathOf(target: string): string | null {
  const isPath = target.startsWith('/');
  if (!isPath && (!/^https?:/i.test(target) || !URL.canParse(target))) return null;

  const path = withoutEndSlash(new URL(isPath ? `http://localhost${target}` : target));
  return path.startsWith('/api/') && segmentOfTwoDots.test(target) ? null : path;
}

const segmentOfTwoDots = /^[^?#]*[/\\](\.|%2e){2}([/\\?#]|$)/i;

/**
 * Whether a request names its host as RFC 9112 §3.2 demands: once, and validly. HTTP/1.0 needs no Host. Nothing here
 * depends on the host, but a proxy in front may have routed by another one of two.
 */
export function hasOneHost({ httpVersion, headersDistinct }: IncomingMessage): boolean {
  const [host, ...others] = headersDistinct.host ?? [];
  if (host === undefined) return httpVersion === '1.0';
  return others.length === 0 && hostAndPort.test(host) && URL.canParse(`http://${host}`);
}

/** A name, an IPv4 or IPv6 address, and a port (RFC 3986 §3.2.2, but for marks that no name has). */
const hostAndPort = /^(\[[\da-f:.]+\]|[\w.~%-]+)(:\d*)?$/i;

function withoutEndSlash({ pathname, search }: URL): string {
  // The look-behind keeps the time linear in a path of slashes alone.
  return (pathname.replace(/(?<!\/)\/+$/, '') || '/') + search;
}

const unknownAddress = '0.0.0.0';

/**
 * Returns the IP address of the client. Each trusted proxy appends the address of its caller to
 * X-Forwarded-For, so with n proxies the client's address is the n-th entry from the right; the
 * client may have forged the entries before it. If that entry is missing or not an address, the
 * address of the connection is returned.
 */
export function addressOf(peer: string | undefined, forwarded: string | string[] | undefined, hops: number): string {
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
