import { randomInt } from 'node:crypto';

const longestSlug = 40;

/** Returns the slug for a name: lower-case letters, digits and single hyphens. */
export function slugFrom(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'organisation' : slug;
}

/** Returns the slug itself for the first attempt, and with a random number for later ones. */
export function slugCandidate(slug: string, attempt: number): string {
  return attempt === 0 ? slug : `${slug}-${randomInt(100_000, 1_000_000)}`;
}
