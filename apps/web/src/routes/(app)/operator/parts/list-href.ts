/** The address of a list with a query, whose empty values are left out. */
export function listHref(path: string, query: Record<string, string>): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  return kept.length > 0 ? `${path}?${new URLSearchParams(kept)}` : path;
}
