import { and, eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Principal, UserPrincipal } from '../auth/principal.ts';
import { accountById } from '../auth/sessions/account.ts';
import { chooseOrganisation } from '../auth/sessions/current-organisation.ts';
import { requireExistingSession } from '../auth/sessions/session.ts';
import { requireRoomForMember } from '../billing/usage/member-room.ts';
import { recordJoined } from '../changes/record-change.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import { readInvitation } from '../organisations/invitation.ts';
import type { Executor } from '../platform/db/client.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { invitations, memberships } from '../platform/db/schema/members.ts';
import { AppError } from '../platform/errors.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { lockMembers } from './lock-members.ts';

export const invitationInput = z.object({ token: z.string({ error: zodMessage('invitation_invalid') }) });

/**
 * Returns the organisation and the role of an invitation without consuming it. Any holder of the
 * link may call it.
 *
 * @throws AppError VALIDATION if the invitation is not valid.
 */
export async function openInvitation(
  app: App,
  principal: Principal | null,
  { token }: z.output<typeof invitationInput>,
) {
  const invitation = await readInvitation(app, app.db, token);
  if (invitation === null) throw new AppError('VALIDATION', message('invitation_invalid'));

  const { organisation, inviter, role, expiresAt } = invitation;
  return {
    organisation: { slug: organisation.slug, name: organisation.name },
    /** The name of the user who made it; null if they have none. Who has the link does not see their address. */
    inviter,
    role,
    expires_at: expiresAt.toISOString(),
    belongs: principal?.kind === 'user' && (await belongsTo(app.db, organisation.id, principal.user.id)),
  };
}

/**
 * Consumes an invitation, makes the principal a member of its organisation, and lets their session
 * act for it. The organisation is approved, so the principal needs no approval of their own. Of
 * concurrent attempts one succeeds; a refused attempt leaves the invitation as it was.
 *
 * @throws AppError UNAUTHENTICATED, also if the session has ended; VALIDATION if the invitation is not valid, or the
 *   principal is a member already; FORBIDDEN if the account is closed, or the plan does not allow another member.
 */
export async function join(
  app: App,
  principal: UserPrincipal,
  { token }: z.output<typeof invitationInput>,
  client: Client,
): Promise<void> {
  await app.db.transaction(async (tx) => {
    const held = await readInvitation(app, tx, token);
    if (held === null) throw new AppError('VALIDATION', message('invitation_invalid'));
    // The membership's reference to its inviter locks that row too, which would be after the organisation.
    const people = [principal.user.id, ...(held.createdBy === null ? [] : [held.createdBy])];
    await tx.select({ id: users.id }).from(users).where(inArray(users.id, people)).orderBy(users.id).for('update');
    const members = await lockMembers(tx, held.organisation.id);
    await requireExistingSession(tx, principal);

    // Reads it again, now that the organisation is locked, and consumes it.
    const invitation = await readInvitation(app, tx, token);
    const taken = await tx.delete(invitations).where(eq(invitations.id, held.id)).returning({ id: invitations.id });
    if (invitation === null || taken.length === 0) throw new AppError('VALIDATION', message('invitation_invalid'));
    const { organisation, role, createdBy } = invitation;

    const account = await accountById(tx, principal.user.id);
    if (account === null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
    if (account.accountStatus === 'closed' || accountStatusOf(account.user, organisation) !== 'active') {
      throw new AppError('FORBIDDEN', message('account_closed'));
    }
    if (members.has(principal.user.id)) {
      throw new AppError('VALIDATION', message('belongs_to', { organisation: organisation.name ?? organisation.slug }));
    }
    await requireRoomForMember(app, tx, organisation.id);

    const now = app.now();
    const membership = { userId: principal.user.id, organisationId: organisation.id };
    await tx.insert(memberships).values({ ...membership, role, createdAt: now, invitedBy: createdBy });
    await tx.update(users).set({ invitedOnly: false }).where(eq(users.id, principal.user.id));
    await chooseOrganisation(tx, { ...membership, sessionId: principal.sessionId });
    const details = { invitation: held.id, role };
    await recordAudit(tx, now, { action: 'member-joined', actorId: principal.user.id, ...membership, client, details });
    await recordJoined(tx, now, membership);
  });
}

async function belongsTo(db: Executor, organisationId: string, userId: string): Promise<boolean> {
  const rows = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId)));
  return rows.length > 0;
}
