import type { Config } from '@gatehouse/api/config';

/** The endpoints of a feature that a deployment may not have. */
const tokenPaths = ['/api/token', '/.well-known/jwks.json'];

const largestBody = 64 * 1024;
const largestEvent = 1_000_000;
const largestReport = 1_000_000;
const reportPaths = ['/api/usage/report', '/api/trpc/usage.report'];

const reading = ['GET', 'HEAD'];

/**
 * The methods that a path of Kit allows, or null for any (Kit checks those of pages). A page's data
 * allows only reading: Kit would run its load for any method. Without a token /metrics does not
 * exist, so every method answers 404.
 */
export function methodsOf(
  { pathname, isPageData }: { pathname: string; isPageData: boolean },
  { metricsTokens }: Pick<Config, 'metricsTokens'>,
): string[] | null {
  if (isPageData) return reading;
  if (pathname.startsWith('/api/trpc/')) return [...reading, 'POST'];
  return pathname === '/metrics' && metricsTokens.length > 0 ? reading : null;
}

/** The largest body of a request to this path, in bytes. */
export function largestBodyOf(pathname: string): number {
  if (pathname.startsWith('/webhooks/')) return largestEvent;
  return reportPaths.includes(pathname) ? largestReport : largestBody;
}

/** Whether a path belongs to a feature that is off, so that nothing is there. */
export function isOff(pathname: string, { tokens }: Pick<Config, 'tokens'>): boolean {
  return tokens === null && tokenPaths.includes(pathname);
}

/** Whether a path belongs to the REST endpoints, known or not. /api/trpc is the typed router, /api/docs a page. */
export function isRestPath(pathname: string): boolean {
  if (pathname.startsWith('/api/')) {
    return !pathname.startsWith('/api/trpc/') && !/^\/api\/docs(\/|\/__data\.json)?$/.test(pathname);
  }
  return pathname.startsWith('/webhooks/') || pathname === '/.well-known/jwks.json';
}

/** Whether a path answers in JSON, errors included. */
export function isJsonPath(pathname: string): boolean {
  return isRestPath(pathname) || pathname.startsWith('/api/trpc/');
}
