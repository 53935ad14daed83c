import { randomInt } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { preparedSql, type Transaction } from '../platform/db/client.ts';
import { newId } from '../platform/db/id.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/** `id` is that of the new organisation, for a caller that needs it earlier. */
type NewOrganisation = { id?: string; ownerId: string; name: string | null; email: string };

/**
 * Creates an organisation that awaits approval, and its owner's membership, in one statement.
 * Returns its id. The unique constraint decides about the slug: after a conflict another slug is
 * tried. For an owner with a verified address the caller tells other services (`recordJoined`).
 */
export async function createOrganisation(
  tx: Transaction,
  now: Date,
  { id = newId(now), ownerId, name, email }: NewOrganisation,
): Promise<string> {
  const wanted = slugFrom(name ?? email.slice(0, email.indexOf('@')));
  const values = { id, ownerId, name, createdAt: now.toISOString() };

  for (let attempt = 0; ; attempt++) {
    const made = await insertion(tx).execute({ ...values, slug: slugCandidate(wanted, attempt) });
    if (made.length > 0) return id;
  }
}

const createdAt = sql`${sql.placeholder('createdAt')}::timestamptz`;

const insertion = preparedSql(
  'organisation_create',
  sql`
  with made as (
    insert into ${organisations} (id, slug, name, created_at)
    values (${sql.placeholder('id')}::uuid, ${sql.placeholder('slug')}, ${sql.placeholder('name')}, ${createdAt})
    on conflict (slug) do nothing returning id)
  insert into ${memberships} (user_id, organisation_id, role, created_at)
  select ${sql.placeholder('ownerId')}::uuid, id, 'owner', ${createdAt} from made
  returning organisation_id`,
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
