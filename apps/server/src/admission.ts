/**
 * How many requests of each class this process serves at once. With more, requests would wait for each other until
 * their callers time out. A flood of one class does not refuse the others. What shares a class fairly among clients
 * stands in front of the service: docs/operations.md has recipes for proxies.
 */
const maxOpen = {
  /** /healthz, /readyz and /metrics: an operator needs them most when everything else is refused. */
  probes: 50,
  webhooks: 300,
  /** Requests that wait for changes: they do nothing meanwhile. */
  polls: 2000,
  api: 300,
  /** Pages, redirects and static files. */
  pages: 200,
};

export type RequestClass = keyof typeof maxOpen;

/**
 * Bounds how many requests of each class are open at once. Each process counts its own. `onRefusal` is called for each
 * request that is refused.
 */
export function createAdmission(onRefusal: (kind: RequestClass) => void = () => {}) {
  const open: Record<RequestClass, number> = { probes: 0, webhooks: 0, polls: 0, api: 0, pages: 0 };

  return {
    /** Counts a request as open until the returned function is called, or returns null if too many of its class are. */
    admit(method: string, pathname: string): (() => void) | null {
      const kind = classOf(method, pathname);
      if (open[kind] >= maxOpen[kind]) {
        onRefusal(kind);
        return null;
      }

      open[kind] += 1;
      return () => {
        open[kind] -= 1;
      };
    },
  };
}

const probes = new Set(['/healthz', '/readyz', '/metrics']);
/** The two ways to the feed, which waits. */
const polls = new Set(['/api/changes', '/api/trpc/changes.since']);

function classOf(method: string, pathname: string): RequestClass {
  if (probes.has(pathname)) return 'probes';
  if (pathname.startsWith('/webhooks/')) return 'webhooks';
  if (polls.has(pathname) && method !== 'POST') return 'polls';
  return /^\/(api\/(?!docs\b)|\.well-known\/)/.test(pathname) ? 'api' : 'pages';
}
