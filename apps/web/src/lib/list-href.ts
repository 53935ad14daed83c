/** The address of a list with a query, whose empty values are left out. */
export function listHref(path: string, query: Record<string, string | null | undefined>): string {
  const kept = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return kept.length > 0 ? `${path}?${new URLSearchParams(kept)}` : path;
}
