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

/** The address of a page of the log, or of its file, with a filter. */
export function logHref(path: string, filter: LogFilter, after: string | null = null): string {
  const set = Object.entries({ ...filter, after }).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const query = new URLSearchParams(set);
  return query.size === 0 ? path : `${path}?${query}`;
}
