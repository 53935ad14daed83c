import { and, eq, gt } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Executor } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { invitations } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { hashToken } from '../platform/security/token.ts';
import { accountStatusOf, approvalOf, basicColumns } from './account-status.ts';

/**
 * Returns the valid invitation of a token, or null. An invitation is valid until it expires, and only while the
 * organisation is approved and the account of the user who created it is active there. One that an API key created has
 * no such user: it ends with the key.
 */
export async function readInvitation({ now }: Pick<App, 'now'>, db: Executor, token: string) {
  const [found] = await db
    .select({
      id: invitations.id,
      role: invitations.role,
      createdBy: invitations.createdBy,
      expiresAt: invitations.expiresAt,
      organisation: basicColumns,
      inviter: users.name,
      creator: {
        // The first column decides whether the row is missing.
        id: users.id,
        emailVerifiedAt: users.emailVerifiedAt,
        suspendedAt: users.suspendedAt,
        invitedOnly: users.invitedOnly,
      },
    })
    .from(invitations)
    .innerJoin(organisations, eq(organisations.id, invitations.organisationId))
    .leftJoin(users, eq(users.id, invitations.createdBy))
    .where(and(eq(invitations.tokenHash, hashToken(token)), gt(invitations.expiresAt, now())));
  if (found === undefined || approvalOf(found.organisation) !== 'approved') return null;
  if (found.creator !== null && accountStatusOf(found.creator, found.organisation) !== 'active') return null;

  const { creator: _, ...invitation } = found;
  return invitation;
}
