import type { IncomingMessage } from 'node:http';
import type { Config } from '@gatehouse/api/config';
import { clientAddress } from './client-address.ts';

const protocolHeader = 'x-gatehouse-protocol';
const hostHeader = 'x-gatehouse-host';
const addressHeader = 'x-gatehouse-address';

/** Tells Kit's handler which headers to believe, before it is imported: only those that `canonicalise` writes. */
export function nameHeaders(): void {
  process.env.PROTOCOL_HEADER = protocolHeader;
  process.env.HOST_HEADER = hostHeader;
  process.env.ADDRESS_HEADER = addressHeader;
  process.env.BODY_SIZE_LIMIT = '1M';
  delete process.env.PORT_HEADER;
}

/**
 * Overwrites where a request says it was sent and by whom. The application sees
 * the configured origin whatever Host and X-Forwarded-* hold, and without one a
 * name that leads nowhere.
 */
export function canonicalise(request: IncomingMessage, config: Pick<Config, 'publicBaseUrl' | 'trustedProxies'>): void {
  const base = new URL(config.publicBaseUrl ?? 'https://unconfigured.invalid');
  request.headers[protocolHeader] = base.protocol.slice(0, -1);
  request.headers[hostHeader] = base.host;
  request.headers[addressHeader] = clientAddress(
    request.socket.remoteAddress,
    request.headers['x-forwarded-for'],
    config.trustedProxies,
  );
  if (isFormPost(request) && acceptsAnything(request.headers.accept)) request.headers.accept = 'text/html';
}

/**
 * Whether a request posts the fields of a form. Kit answers a form action in JSON unless the
 * request prefers HTML, with status 200 for a redirect. Programs that post forms send no Accept
 * or any, and expect what a browser gets; Kit's own scripts ask for JSON by name.
 */
function isFormPost({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(headers['content-type'] ?? '')
  );
}

function acceptsAnything(accept: string | undefined): boolean {
  return accept === undefined || accept.trim() === '' || accept.trim() === '*/*';
}

/**
 * The target as a path. A server has to accept the absolute form as well (RFC 9112
 * §3.2.2), and Kit would append it to the origin. Null when it is neither. Slashes at
 * the end of a path go, as the URL Standard (§4.4) reads it: Kit would redirect before
 * its hook has written a single header.
 */
export function pathOf(target: string): string | null {
  if (target.startsWith('/')) return withoutEndSlash(new URL(`http://localhost${target}`));
  if (!/^https?:/i.test(target) || !URL.canParse(target)) return null;

  return withoutEndSlash(new URL(target));
}

function withoutEndSlash({ pathname, search }: URL): string {
  // The look-behind keeps the time linear in a path of slashes alone.
  return (pathname.replace(/(?<!\/)\/+$/, '') || '/') + search;
}
