import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { isApprovedDomain } from '../../organisations/account-status.ts';
import { approveByRule } from '../../organisations/approve.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { consumeOneTimeToken } from '../password/one-time-token.ts';
import type { UserPrincipal } from '../principal.ts';
import { accountById } from '../sessions/account.ts';

/** Returns what a user who awaits approval may see: their own dates, and the organisation's name. */
export async function readApprovalProgress(app: App, principal: UserPrincipal) {
  const { user, organisation } = principal;
  const [own] = await app.db
    .select({ emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(users.id, user.id));
  const [requested] =
    organisation === null
      ? []
      : await app.db
          .select({ createdAt: organisations.createdAt })
          .from(organisations)
          .where(eq(organisations.id, organisation.id));

  return {
    organisation: organisation && { name: organisation.name, slug: organisation.slug },
    email_verified_at: own?.emailVerifiedAt?.toISOString() ?? null,
    requested_at: requested?.createdAt.toISOString() ?? null,
  };
}

export const approveByDomainInput = z.object({ token: z.string({ error: zodMessage('link_no_longer_valid') }) });

/**
 * Opens the approval gate for an address whose domain APPROVED_DOMAINS lists, when the user
 * presses the button on the page of the verification link: mail scanners open links but do not
 * submit forms.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, the account is closed or
 *   has no organisation, or the domain is not listed.
 */
export async function approveByDomain(
  app: App,
  { token }: z.output<typeof approveByDomainInput>,
  client: Client,
): Promise<void> {
  await app.db.transaction(async (tx) => {
    const { userId } = await consumeOneTimeToken(app, tx, token, ['approval']);
    const account = await accountById(tx, userId);
    if (
      account?.organisationId == null ||
      account.accountStatus === 'closed' ||
      !isApprovedDomain(app, account.user.email)
    ) {
      throw new AppError('VALIDATION', message('link_no_longer_valid'));
    }
    const organisationIds = [account.organisationId];
    await approveByRule(tx, { organisationIds, ownerId: userId, actorId: null, client, now: app.now() });
  });
}
