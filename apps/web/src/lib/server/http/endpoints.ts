/** The JSON endpoints and their methods. What is not here answers 405, or 404 under /api. */
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
 * The methods of a path, or null where any may come (pages look after themselves).
 * A page's data is for reading: Kit would run its load by any method.
 */
export function methodsOf({ pathname, isPageData }: { pathname: string; isPageData: boolean }): string[] | null {
  if (isPageData) return pageDataMethods;
  if (pathname.startsWith('/api/trpc/')) return procedureMethods;
  return Object.hasOwn(methods, pathname) ? (methods[pathname] ?? null) : null;
}

/** How many bytes a request to this path may carry. */
export function largestBodyOf(pathname: string): number {
  return pathname.startsWith('/webhooks/') ? largestEvent : largestBody;
}

/** Whether a path answers in JSON, errors included. */
export function isJsonPath(pathname: string): boolean {
  return pathname.startsWith('/api/') || pathname.startsWith('/webhooks/');
}
