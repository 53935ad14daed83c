import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { lockUser } from '../accounts/profile/lock-user.ts';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import type { Executor } from '../db/client.ts';
import { users } from '../db/schema/accounts.ts';
import { invitations, memberships } from '../db/schema/members.ts';
import { AppError } from '../errors.ts';
import { accountStatusOf } from '../organisations/account-status.ts';
import { readInvitation } from '../organisations/invitation.ts';
import type { Client } from '../security/client.ts';
import { accountById } from '../sessions/account.ts';
import { chooseOrganisation } from '../sessions/choose-organisation.ts';
import { type Principal, requirePrincipal } from '../sessions/principal.ts';
import { requireRoomForMember } from '../usage/member-room.ts';
import { lockMembers } from './lock-members.ts';

const notValid = 'This invitation is not valid any more.';

export const invitationInput = z.object({ token: z.string({ error: notValid }) });

/**
 * What an invitation lets its holder join, without taking it; for anybody who holds it.
 *
 * @throws AppError VALIDATION for a dead one.
 */
export async function openInvitation(
  app: App,
  principal: Principal | null,
  { token }: z.output<typeof invitationInput>,
) {
  const invitation = await readInvitation(app, app.db, token);
  if (invitation === null) throw new AppError('VALIDATION', notValid);

  const { organisation, role, expiresAt } = invitation;
  return {
    organisation: { slug: organisation.slug, name: organisation.name },
    role,
    expires_at: expiresAt.toISOString(),
    belongs: principal !== null && (await belongsTo(app.db, organisation.id, principal.user.id)),
  };
}

/**
 * Takes an invitation and makes the principal a member of its organisation, which their
 * session acts for from then on. The organisation is approved, so it needs no approval of
 * theirs: also somebody whose own one still waits may join. Of any number of attempts at
 * once, one succeeds; one that is refused leaves the invitation as it was.
 *
 * @throws AppError VALIDATION for a dead one, and for who is a member already; FORBIDDEN
 *   where the account is closed, or the plan has no room for another member.
 */
export async function join(
  app: App,
  principal: Principal | null,
  { token }: z.output<typeof invitationInput>,
  client: Client,
): Promise<void> {
  const who = requirePrincipal(principal);

  await app.db.transaction(async (tx) => {
    const held = await readInvitation(app, tx, token);
    if (held === null) throw new AppError('VALIDATION', notValid);
    await lockUser(tx, who.user.id);
    const members = await lockMembers(tx, held.organisation.id);

    // Once more, now that nobody can change the organisation, and then taken.
    const invitation = await readInvitation(app, tx, token);
    const taken = await tx.delete(invitations).where(eq(invitations.id, held.id)).returning({ id: invitations.id });
    if (invitation === null || taken.length === 0) throw new AppError('VALIDATION', notValid);
    const { organisation, role } = invitation;

    const person = await accountById(tx, who.user.id);
    if (person === null) throw new AppError('UNAUTHENTICATED', 'Sign in first.');
    if (person.accountStatus === 'closed' || accountStatusOf(person.user, organisation) !== 'open') {
      throw new AppError('FORBIDDEN', 'This account is closed.');
    }
    if (members.has(who.user.id)) {
      throw new AppError('VALIDATION', `You belong to ${organisation.name ?? organisation.slug} already.`);
    }
    await requireRoomForMember(app, tx, organisation.id);

    const now = app.now();
    const membership = { userId: who.user.id, organisationId: organisation.id };
    await tx.insert(memberships).values({ ...membership, role, createdAt: now });
    await tx.update(users).set({ invitedOnly: false }).where(eq(users.id, who.user.id));
    await chooseOrganisation(tx, { ...membership, sessionId: who.sessionId });
    const details = { invitation: held.id, role };
    await recordAudit(tx, now, { action: 'member-joined', actorId: who.user.id, ...membership, client, details });
  });
}

async function belongsTo(db: Executor, organisationId: string, userId: string): Promise<boolean> {
  const rows = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.organisationId, organisationId), eq(memberships.userId, userId)));
  return rows.length > 0;
}
