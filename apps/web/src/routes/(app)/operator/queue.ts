import type { Tone } from '#lib/format/tone.ts';

export interface Waiting {
  organisation: { id: string; slug: string; name: string | null };
  owner: { id: string; email: string; name: string | null };
  requested_at: string;
  evidence: { tone: Tone; text: string }[];
}

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
