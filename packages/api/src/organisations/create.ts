import { randomInt } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { prepared, type Transaction } from '../platform/db/client.ts';
import { newId } from '../platform/db/id.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/** `id` is that of the new organisation, for a caller that needs it earlier. */
type NewOrganisation = { id?: string; ownerId: string; name: string | null; email: string };

/**
 * Creates an organisation that awaits approval, and its owner's membership.
 * Returns its id. The unique constraint decides about the slug: after a conflict another slug is
 * tried. For an owner with a verified address the caller tells other services (`recordJoined`).
 */
export async function createOrganisation(
  tx: Transaction,
  now: Date,
  { id = newId(now), ownerId, name, email }: NewOrganisation,
): Promise<string> {
  const wanted = slugFrom(name ?? email.slice(0, email.indexOf('@')));

  for (let attempt = 0; ; attempt++) {
    const values = { id, slug: slugCandidate(wanted, attempt), name, createdAt: now };
    const [made] = await insertion(tx).execute(values);
    if (made === undefined) continue;

    await tx.insert(memberships).values({ userId: ownerId, organisationId: id, role: 'owner', createdAt: now });
    return id;
  }
}

const insertion = prepared((db) =>
  db
    .insert(organisations)
    .values({
      id: sql.placeholder('id'),
      slug: sql.placeholder('slug'),
      name: sql.placeholder('name'),
      createdAt: sql.placeholder('createdAt'),
    })
    .onConflictDoNothing({ target: organisations.slug })
    .returning({ id: organisations.id })
    .prepare('organisation_create'),
);

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
