import { isLoopback } from '@gatehouse/api/config';

type Asked = {
  method: string;
  pathname: string;
  /** The headers Origin and Sec-Fetch-Site, null where they were not sent. */
  origin: string | null;
  fetchSite: string | null;
  publicBaseUrl: string | null;
};

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request may change something as far as its origin goes. Browsers say where
 * a request comes from (Fetch §3.1 Origin, Fetch Metadata §2.2 Sec-Fetch-Site); who
 * sends neither is no browser and carries no one else's cookies.
 */
export function isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl }: Asked): boolean {
  if (safeMethods.has(method) || pathname.startsWith('/webhooks/')) return true;
  if (fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none') return false;
  if (origin === null) return true;
  if (publicBaseUrl === null) return false;
  // What a form on a page with Referrer-Policy: no-referrer sends.
  if (origin === 'null') return fetchSite === 'same-origin';
  return origin === publicBaseUrl || isSameLoopback(origin, publicBaseUrl);
}

/** On one's own machine localhost and 127.0.0.1 are the same place. */
function isSameLoopback(origin: string, publicBaseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const [from, base] = [new URL(origin), new URL(publicBaseUrl)];
  const alike = from.protocol === base.protocol && from.port === base.port && from.origin === origin;
  return alike && isLoopback(from.hostname) && isLoopback(base.hostname);
}
