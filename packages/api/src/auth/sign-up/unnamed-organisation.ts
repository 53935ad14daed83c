import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';

/** Returns the id of the organisation without a name that a user owns, or null. */
export async function unnamedOrganisation(tx: Transaction, userId: string): Promise<string | null> {
  const [own] = await tx
    .select({ id: organisations.id })
    .from(memberships)
    .innerJoin(organisations, eq(organisations.id, memberships.organisationId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner'), isNull(organisations.name)))
    .orderBy(memberships.createdAt, organisations.id)
    .limit(1);
  return own?.id ?? null;
}
