import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';
import { slugCandidate, slugFrom } from './slug.ts';

type Wanted = { ownerId: string; name: string | null; email: string };

/**
 * Creates an organisation that awaits approval, and its owner's membership, in one statement.
 * Returns its id. The unique constraint decides about the slug: after a conflict another slug is
 * tried.
 */
export async function createOrganisation(
  tx: Transaction,
  now: Date,
  { ownerId, name, email }: Wanted,
): Promise<string> {
  const id = newId(now);
  const slug = slugFrom(name ?? email.slice(0, email.indexOf('@')));

  for (let attempt = 0; ; attempt++) {
    const organisation = tx
      .insert(organisations)
      .values({ id, slug: slugCandidate(slug, attempt), name, createdAt: now })
      .onConflictDoNothing({ target: organisations.slug })
      .returning({ id: organisations.id });
    const made = await tx.execute(sql`
      with made as ${organisation}
      insert into ${memberships} (user_id, organisation_id, role, created_at)
      select ${ownerId}::uuid, id, 'owner', ${now.toISOString()}::timestamptz from made
      returning organisation_id`);
    if (made.length > 0) return id;
  }
}
