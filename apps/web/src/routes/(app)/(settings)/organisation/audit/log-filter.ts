import type { RouterInputs } from '#lib/router.ts';

type LogFilter = Pick<RouterInputs['organisations']['auditLog'], 'action' | 'from' | 'until'>;

/** The filter of the audit log in a query. An empty field filters nothing. */
export function logFilter(query: URLSearchParams): LogFilter {
  return {
    action: (query.get('action') || undefined) as LogFilter['action'],
    from: query.get('from') || undefined,
    until: query.get('until') || undefined,
  };
}
