import { isLoopback } from '@gatehouse/api/config';

type RequestOrigin = {
  method: string;
  pathname: string;
  /** The headers Origin and Sec-Fetch-Site, null where they were not sent. */
  origin: string | null;
  fetchSite: string | null;
  publicBaseUrl: string | null;
};

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request's origin permits it to change something. Browsers name the origin of a request
 * (Fetch §3.1 Origin, Fetch Metadata §2.2 Sec-Fetch-Site); a client that sends neither header is
 * not a browser, and has only its own cookies.
 */
export function isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl }: RequestOrigin): boolean {
  if (safeMethods.has(method) || pathname.startsWith('/webhooks/')) return true;
  if (fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none') return false;
  if (origin === null) return true;
  if (publicBaseUrl === null) return false;
  // A form on a page with Referrer-Policy: no-referrer sends this.
  if (origin === 'null') return fetchSite === 'same-origin';
  return origin === publicBaseUrl || isSameLoopback(origin, publicBaseUrl);
}

/** localhost and 127.0.0.1 name the same machine. */
function isSameLoopback(origin: string, publicBaseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const [from, base] = [new URL(origin), new URL(publicBaseUrl)];
  const alike = from.protocol === base.protocol && from.port === base.port && from.origin === origin;
  return alike && isLoopback(from.hostname) && isLoopback(base.hostname);
}
