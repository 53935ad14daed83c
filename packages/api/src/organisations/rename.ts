import { eq } from 'drizzle-orm';
import { recordChange } from '../changes/record-change.ts';
import type { Transaction } from '../platform/db/client.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { isSqlState } from '../platform/errors.ts';
import { slugCandidate, slugFrom } from './create.ts';

/** Changes an organisation's name, or removes it, and derives the slug from it. The same name leaves the slug. */
export async function renameOrganisation(
  tx: Transaction,
  now: Date,
  { id, name, email }: { id: string; name: string | null; email: string },
): Promise<void> {
  const [before] = await tx.select({ name: organisations.name }).from(organisations).where(eq(organisations.id, id));
  if (before === undefined || before.name === name) return;
  const wanted = slugFrom(name ?? email.slice(0, email.indexOf('@')));

  for (let attempt = 0; ; attempt++) {
    const slug = slugCandidate(wanted, attempt);
    // In a savepoint, because a conflict of the slug would otherwise abort the whole transaction.
    try {
      await tx.transaction((savepoint) =>
        savepoint.update(organisations).set({ name, slug }).where(eq(organisations.id, id)),
      );
      return recordChange(tx, now, { type: 'organisation.renamed', organisationId: id, data: { slug, name } });
    } catch (error) {
      if (!isSqlState(error, '23505')) throw error;
    }
  }
}
