import { presentedKey } from '@gatehouse/api/auth/read-key';
import { type Config, isLoopback } from '@gatehouse/api/platform/config';
import { AppError } from '@gatehouse/api/platform/errors';
import { tooLarge } from '../http/read-body.ts';

/** `methods` are those that the path allows; null for any. */
type Endpoint = { pathname: string; methods: string[] | null };

/** What the request guard read of a request, for the steps after it. */
export type GuardedRequest = {
  /** The API key of the request, valid or not; null without one. */
  presentedKey: string | null;
  /** The size of the largest body that the endpoint accepts. */
  maxBodyBytes: number;
};

type RequestHead = {
  method: string;
  headers: Pick<Headers, 'get'>;
  /** @throws AppError TOO_LARGE if the body has more bytes. */
  readBytes: (maxBytes: number) => Promise<Buffer>;
};

/**
 * Checks a request before its principal is resolved, in this order: whether the feature is on, the
 * method, the size of the body, the origin. Only for a request of another site is a body of unknown
 * length read here, because its size is checked before its origin; a handler reads any other body.
 *
 * @throws AppError NOT_FOUND, METHOD_NOT_ALLOWED, TOO_LARGE or FOREIGN_ORIGIN.
 */
export async function guardRequest(
  { method, headers, readBytes }: RequestHead,
  { pathname, methods }: Endpoint,
  config: Config,
): Promise<GuardedRequest> {
  if (isOff(pathname, config)) throw new AppError('NOT_FOUND', 'There is nothing here.');
  if (methods !== null && !methods.includes(method)) {
    throw new AppError('METHOD_NOT_ALLOWED', 'This method is not allowed here.');
  }
  // A key is authenticated before the size of the body is checked, so the endpoint refuses a body that is too large.
  const authorization = headers.get('authorization');
  const key = authorization === null ? null : presentedKey(authorization);
  const accepted = { presentedKey: key, maxBodyBytes: maxBodyBytesOf(pathname) };
  const hasKey = key !== null;
  if (!hasKey && Number(headers.get('content-length') ?? 0) > accepted.maxBodyBytes) throw tooLarge();

  const origin = headers.get('origin');
  const fetchSite = headers.get('sec-fetch-site');
  // No page of another site can send a key, and cookies do not authenticate a request with a key.
  if (hasKey) return accepted;
  if (!isSameOrigin({ method, pathname, origin, fetchSite, publicBaseUrl: config.publicBaseUrl })) {
    if (headers.get('content-length') === null) await readBytes(accepted.maxBodyBytes);
    throw new AppError('FOREIGN_ORIGIN', 'This request comes from another site.');
  }
  return accepted;
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

const readMethods = ['GET', 'HEAD'];

/**
 * The methods that a path of Kit allows, or null for any (Kit checks those of pages). A page's data
 * allows only reading: Kit would run its load for any method. Without a token /metrics does not
 * exist, so every method answers 404.
 */
export function methodsOf(
  { pathname, isPageData }: { pathname: string; isPageData: boolean },
  { metricsTokens }: Pick<Config, 'metricsTokens'>,
): string[] | null {
  if (isPageData) return readMethods;
  if (pathname.startsWith('/api/trpc/')) return [...readMethods, 'POST'];
  return pathname === '/metrics' && metricsTokens.length > 0 ? readMethods : null;
}

/** The size of the largest body that a request to this path may have. */
export function maxBodyBytesOf(pathname: string): number {
  if (pathname.startsWith('/webhooks/')) return maxEventBytes;
  return reportPaths.includes(pathname) ? maxReportBytes : maxBodyBytes;
}

/** Whether a path belongs to a feature that is off, so that nothing is there. */
function isOff(pathname: string, { tokens }: Pick<Config, 'tokens'>): boolean {
  return tokens === null && tokenPaths.includes(pathname);
}
