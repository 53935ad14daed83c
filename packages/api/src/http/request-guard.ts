import { type Config, isLoopback } from '../platform/config.ts';
import { AppError } from '../platform/errors.ts';
import { tooLarge } from './read-body.ts';
import type { RequestSource } from './request.ts';

/**
 * Checks what is known of a request before its body is read. `methods` are those that the path allows; null for any.
 *
 * @throws AppError NOT_FOUND where the feature is off, METHOD_NOT_ALLOWED or TOO_LARGE; checked in this order.
 */
export function guardHead(
  { method, pathname, headers }: RequestSource,
  methods: string[] | null,
  config: Pick<Config, 'tokens'>,
): void {
  if (isOff(pathname, config)) throw new AppError('NOT_FOUND', 'There is nothing here.');
  if (methods !== null && !methods.includes(method)) {
    throw new AppError('METHOD_NOT_ALLOWED', 'This method is not allowed here.');
  }
  if (Number(headers.get('content-length') ?? 0) > maxBodyBytesOf(pathname)) throw tooLarge();
}

/**
 * Returns the API key of the header `Authorization: Bearer gh_…`, valid or not; null for any other
 * header, such as the Basic of a proxy.
 */
export function presentedKey(authorization: string | null): string | null {
  return /^bearer +(gh_.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? null;
}

/**
 * Lets products sign their users out from their own pages: the worst that a page of RETURN_ORIGINS can do by it is that.
 *
 * @throws AppError FOREIGN_ORIGIN if the request comes from a page of another site.
 */
export function guardOrigin(
  { method, pathname, headers }: RequestSource,
  { publicBaseUrl, returnOrigins }: Pick<Config, 'publicBaseUrl' | 'returnOrigins'>,
): void {
  const [origin, fetchSite] = [headers.get('origin'), headers.get('sec-fetch-site')];
  const isSignOut = pathname === '/api/logout' && origin !== null && returnOrigins.includes(origin);
  if (!isSignOut && !isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl })) {
    throw new AppError('FOREIGN_ORIGIN', 'This request comes from another site.');
  }
}

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
 * Whether a request's origin permits it. Requests that only read, and events of the payment provider,
 * may have any origin. Browsers name the origin of a request (Fetch §3.1 Origin, Fetch Metadata §2.2
 * Sec-Fetch-Site); a client that sends neither header is not a browser, and has only its own cookies.
 */
export function isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl }: RequestOrigin): boolean {
  if (safeMethods.has(method) || pathname.startsWith('/webhooks/')) return true;
  if (fetchSite !== null && fetchSite !== 'same-origin' && fetchSite !== 'none') return false;
  if (origin === null) return true;
  if (publicBaseUrl === null) return false;
  // A browser sends this origin for a form on a page with Referrer-Policy: no-referrer.
  if (origin === 'null') return fetchSite === 'same-origin';
  return origin === publicBaseUrl || isSameLoopback(origin, publicBaseUrl);
}

/** Both names lead to one server. Another loopback address may lead to another one. */
const loopbackNames = new Set(['localhost', '127.0.0.1']);

function isSameLoopback(origin: string, publicBaseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const [from, base] = [new URL(origin), new URL(publicBaseUrl)];
  const alike = from.protocol === base.protocol && from.port === base.port && from.origin === origin;
  return alike && loopbackNames.has(from.hostname) && isLoopback(base.hostname);
}

/**
 * Whether a request is a navigation of a browser's own tab, by its metadata (Fetch Metadata §2):
 * not an image, frame, script or prefetch, which another site's page can make the browser send
 * any number of times. Without these headers a request counts as a navigation: browsers before
 * 2023 send none. Node's fetch sends the mode `cors` alone; a browser never sends a mode without
 * a destination, so such a request comes from a program and counts as a navigation too.
 */
export function isNavigation(headers: Headers): boolean {
  const mode = headers.get('sec-fetch-mode') ?? 'navigate';
  const destination = headers.get('sec-fetch-dest');
  const isProgram = mode === 'cors' && destination === null;
  const isPage = mode === 'navigate' && (destination === null || destination === 'document');
  return (isPage || isProgram) && !isPrefetch(headers);
}

/** Whether the browser fetches a page before the user has asked for it. */
export function isPrefetch(headers: Headers): boolean {
  return ['sec-purpose', 'purpose', 'x-moz'].some((name) => headers.get(name)?.toLowerCase().includes('prefetch'));
}

/** @throws Error if the request is not a navigation: the sign-in routes answer it like any failure, and count no attempt. */
export function requireNavigation(headers: Headers): void {
  if (!isNavigation(headers)) throw new Error('the request is no navigation');
}

/** The endpoints of a feature that a deployment may not have. */
const tokenPaths = ['/api/token', '/.well-known/jwks.json'];

const maxBodyBytes = 64 * 1024;
const maxEventBytes = 1_000_000;
const maxReportBytes = 1_000_000;
const reportPaths = ['/api/usage/report', '/api/trpc/usage.report'];

/** The size of the largest body that a request to this path may have. */
export function maxBodyBytesOf(pathname: string): number {
  if (pathname.startsWith('/webhooks/')) return maxEventBytes;
  return reportPaths.includes(pathname) ? maxReportBytes : maxBodyBytes;
}

/** Whether a path belongs to a feature that is off, so that nothing is there. */
function isOff(pathname: string, { tokens }: Pick<Config, 'tokens'>): boolean {
  return tokens === null && tokenPaths.includes(pathname);
}
