import { eq } from 'drizzle-orm';
import type { Transaction } from '../platform/db/client.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { isSqlState } from '../platform/errors.ts';
import { slugCandidate, slugFrom } from './create.ts';

/** Changes an organisation's name, or removes it, and derives the slug from it. */
export async function renameOrganisation(
  tx: Transaction,
  { id, name, email }: { id: string; name: string | null; email: string },
): Promise<void> {
  const slug = slugFrom(name ?? email.slice(0, email.indexOf('@')));

  for (let attempt = 0; ; attempt++) {
    const candidate = slugCandidate(slug, attempt);
    // In a savepoint, because a conflict of the slug would otherwise abort the whole transaction.
    try {
      await tx.transaction((savepoint) =>
        savepoint.update(organisations).set({ name, slug: candidate }).where(eq(organisations.id, id)),
      );
      return;
    } catch (error) {
      if (!isSqlState(error, '23505')) throw error;
    }
  }
}
