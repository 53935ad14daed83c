import type { Transaction } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { memberships, organisations } from '../db/schema.ts';
import { slugCandidate, slugFrom } from './slug.ts';

type Wanted = { ownerId: string; name: string | null; email: string };

/**
 * Makes an organisation that waits for approval, owned by a user. Its slug is unique
 * under any concurrency: the constraint decides, and whoever loses tries another.
 */
export async function createOrganisation(
  tx: Transaction,
  now: Date,
  { ownerId, name, email }: Wanted,
): Promise<string> {
  const id = newId(now);
  const slug = slugFrom(name ?? email.slice(0, email.indexOf('@')));

  for (let attempt = 0; ; attempt++) {
    const [made] = await tx
      .insert(organisations)
      .values({ id, slug: slugCandidate(slug, attempt), name, createdAt: now })
      .onConflictDoNothing({ target: organisations.slug })
      .returning({ id: organisations.id });
    if (made !== undefined) break;
  }
  await tx.insert(memberships).values({ userId: ownerId, organisationId: id, role: 'owner', createdAt: now });

  return id;
}
