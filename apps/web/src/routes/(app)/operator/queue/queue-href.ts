/** Returns the URL of the queue with a search, and with the dialog that declines the named organisations. */
export function queueHref({ search, declining = [] }: { search: string; declining?: string[] }): string {
  const query = new URLSearchParams(search ? { search } : {});
  if (declining.length > 0) query.set('ask', 'decline');
  for (const id of declining) query.append('organisation_ids', id);
  return query.size > 0 ? `/operator?${query}` : '/operator';
}
