import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { Transaction } from '../../platform/db/client.ts';
import { verificationLinks } from '../../platform/db/schema/accounts.ts';

type Link = typeof verificationLinks.$inferSelect;

/** Ends the other links of a consumed link's user for the same address and purpose. */
export async function endEqualLinks(tx: Transaction, { userId, email, purpose, tokenHash }: Link, now: Date) {
  await tx
    .update(verificationLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(verificationLinks.userId, userId),
        eq(verificationLinks.email, email),
        eq(verificationLinks.purpose, purpose),
        ne(verificationLinks.tokenHash, tokenHash),
        isNull(verificationLinks.usedAt),
      ),
    );
}

/**
 * Ends a user's links for a change of address and for a lost password, and what their pages
 * still offer. A user who sets a new password because another person knew the old one must
 * not lose the account to a link that is still valid. The rows stay, because the mail limits count
 * them, and the page of a lost-password link still says that the address is confirmed.
 */
export async function endLinks(tx: Transaction, userId: string, now: Date, kept: Link | null = null): Promise<void> {
  const at = now.toISOString();
  await tx
    .update(verificationLinks)
    .set({
      usedAt: sql`coalesce(${verificationLinks.usedAt}, ${at}::timestamptz)`,
      expiresAt: sql`least(${verificationLinks.expiresAt}, ${at}::timestamptz)`,
    })
    .where(
      and(
        eq(verificationLinks.userId, userId),
        inArray(verificationLinks.purpose, ['change-address', 'lost-password']),
        kept === null ? undefined : ne(verificationLinks.tokenHash, kept.tokenHash),
      ),
    );
}
