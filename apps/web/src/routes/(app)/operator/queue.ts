import type { PageData } from './$types';

export type Waiting = PageData['queue']['waiting'][number];

/** Returns the URL of the dialog that declines these organisations. */
export function declineHref(ids: string[], search: string): string {
  const query = new URLSearchParams({ ask: 'decline' });
  for (const id of ids) query.append('organisation_ids', id);
  if (search) query.set('search', search);
  return `/operator?${query}`;
}

/** Returns the organisation's name, or its slug if it has none. */
export function nameOf({ organisation }: Waiting): string {
  return organisation.name ?? organisation.slug;
}
