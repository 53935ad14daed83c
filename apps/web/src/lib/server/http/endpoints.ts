/** The JSON endpoints and their methods. Other methods answer 405, other paths under /api 404. */
const methods: Record<string, string[]> = {
  '/api/login': ['POST'],
  '/api/logout': ['POST'],
  '/api/session': ['GET', 'HEAD'],
  '/api/signup': ['POST'],
  '/api/signup/resend': ['POST'],
  '/api/subscription': ['GET', 'HEAD'],
  '/api/billing/checkout': ['POST'],
  '/api/billing/portal': ['POST'],
  '/api/billing/cancel': ['POST'],
  '/api/billing/resume': ['POST'],
  '/webhooks/payment': ['POST'],
  '/metrics': ['GET', 'HEAD'],
};

const largestBody = 64 * 1024;
const largestEvent = 1_000_000;

const pageDataMethods = ['GET', 'HEAD'];
const procedureMethods = ['GET', 'HEAD', 'POST'];

/**
 * The methods that a path allows, or null for any (Kit checks those of pages). A page's data
 * allows only reading: Kit would run its load for any method.
 */
export function methodsOf({ pathname, isPageData }: { pathname: string; isPageData: boolean }): string[] | null {
  if (isPageData) return pageDataMethods;
  if (pathname.startsWith('/api/trpc/')) return procedureMethods;
  return Object.hasOwn(methods, pathname) ? (methods[pathname] ?? null) : null;
}

/** The largest body of a request to this path, in bytes. */
export function largestBodyOf(pathname: string): number {
  return pathname.startsWith('/webhooks/') ? largestEvent : largestBody;
}

/** Whether a path answers in JSON, errors included. */
export function isJsonPath(pathname: string): boolean {
  return pathname.startsWith('/api/') || pathname.startsWith('/webhooks/');
}
