import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '../../db/client.ts';
import { memberships } from '../../db/schema/members.ts';
import { organisations } from '../../db/schema/organisations.ts';

/** The organisation that a user came with as its owner, as long as it has no name; else null. */
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
