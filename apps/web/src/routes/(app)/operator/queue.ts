import type { RouterOutputs } from '#lib/router.ts';

/** An organisation that waits for a decision. */
export type Waiting = RouterOutputs['operators']['queue']['waiting'][number];

/** The address that opens the dialog in which these organisations are declined. */
export function declineHref(ids: string[], search: string): string {
  const query = new URLSearchParams({ ask: 'decline' });
  for (const id of ids) query.append('organisation_ids', id);
  if (search) query.set('search', search);
  return `/operator?${query}`;
}

export function nameOf({ organisation }: Waiting): string {
  return organisation.name ?? organisation.slug;
}
