import type { Config } from '@gatehouse/api/config';

/** The JSON endpoints and their methods. Other methods answer 405, other paths under /api 404. */
const methods: Record<string, string[]> = {
  '/api/login': ['POST'],
  '/api/logout': ['POST'],
  '/api/openapi.json': ['GET', 'HEAD'],
  '/api/session': ['GET', 'HEAD'],
  '/api/signup': ['POST'],
  '/api/signup/resend': ['POST'],
  '/api/subscription': ['GET', 'HEAD'],
  '/api/billing/checkout': ['POST'],
  '/api/billing/portal': ['POST'],
  '/api/billing/cancel': ['POST'],
  '/api/billing/resume': ['POST'],
  '/api/organisations': ['GET', 'HEAD'],
  '/api/changes': ['GET', 'HEAD'],
  '/api/usage/reserve': ['POST'],
  '/api/usage/release': ['POST'],
  '/api/usage/report': ['POST'],
  '/api/token': ['POST'],
  '/.well-known/jwks.json': ['GET', 'HEAD'],
  '/webhooks/payment': ['POST'],
  '/metrics': ['GET', 'HEAD'],
};

/** The endpoints with parameters in their path. */
const patterns: [path: RegExp, methods: string[]][] = [
  [/^\/api\/organisations\/[^/]+\/(members|entitlements|entitlements\/[^/]+)$/, ['GET', 'HEAD']],
  [/^\/api\/usage\/[^/]+$/, ['GET', 'HEAD', 'PUT']],
];

/** The endpoints of a feature that a deployment may not have. */
const tokenPaths = ['/api/token', '/.well-known/jwks.json'];

const largestBody = 64 * 1024;
const largestEvent = 1_000_000;
const largestReport = 1_000_000;
const reportPaths = ['/api/usage/report', '/api/trpc/usage.report'];

const pageDataMethods = ['GET', 'HEAD'];
const procedureMethods = ['GET', 'HEAD', 'POST'];

/**
 * The methods that a path allows, or null for any (Kit checks those of pages). A page's data
 * allows only reading: Kit would run its load for any method.
 */
export function methodsOf({ pathname, isPageData }: { pathname: string; isPageData: boolean }): string[] | null {
  if (isPageData) return pageDataMethods;
  if (pathname.startsWith('/api/trpc/')) return procedureMethods;
  if (Object.hasOwn(methods, pathname)) return methods[pathname] ?? null;
  return patterns.find(([path]) => path.test(pathname))?.[1] ?? null;
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

/** Whether a path answers in JSON, errors included. */
export function isJsonPath(pathname: string): boolean {
  if (pathname === '/api/docs' || pathname === '/api/docs/') return false;
  return pathname.startsWith('/api/') || pathname.startsWith('/webhooks/') || pathname === '/.well-known/jwks.json';
}
