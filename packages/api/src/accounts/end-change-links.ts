import { and, eq } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { verificationLinks } from '../db/schema.ts';

/**
 * Ends a person's links for a change of address. Whoever sets a new password because
 * somebody knew the old one must not lose the account to a link that is still under way.
 */
export async function endChangeLinks(tx: Transaction, userId: string): Promise<void> {
  await tx
    .delete(verificationLinks)
    .where(and(eq(verificationLinks.userId, userId), eq(verificationLinks.purpose, 'change-address')));
}
