import { and, asc, eq, gt } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { confirmation, confirmUser } from '../auth/password/fresh-sign-in.ts';
import type { Administrator } from '../auth/principal.ts';
import { lockUser } from '../auth/sessions/account.ts';
import { organisationField, requireSameOrganisation } from '../auth/sessions/require-same-organisation.ts';
import { requireRoomForMember } from '../billing/usage/member-room.ts';
import type { Transaction } from '../platform/db/client.ts';
import { newId } from '../platform/db/id.ts';
import { users } from '../platform/db/schema/accounts.ts';
import { invitations } from '../platform/db/schema/members.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { AppError } from '../platform/errors.ts';
import { invitationLink } from '../platform/links.ts';
import { message, zodMessage } from '../platform/messages.ts';
import type { Client } from '../platform/security/client.ts';
import { oneLine } from '../platform/security/text.ts';
import { hashToken, newToken } from '../platform/security/token.ts';
import { lockMembers, requireAdministrator } from './lock-members.ts';

const lifetimeDays = 7;
const maximumOpen = 100;

export const inviteInput = z.object({
  organisation_id: organisationField,
  /**
   * An invitation cannot make an owner, because its link may reach another person. An owner promotes
   * a member instead.
   */
  role: z.enum(['admin', 'member', 'viewer'], zodMessage('choose_role')),
  /** Whom the link is for, so that administrators can distinguish two invitations. */
  note: oneLine(100)
    .nullish()
    .transform((note) => note || null),
  ...confirmation,
});

export const revokeInvitationInput = z.object({ id: z.uuid(zodMessage('no_such_invitation')) });

/**
 * Creates an invitation and returns its link, by which one user joins the organisation within seven
 * days. The administrator passes the link on, and is confirmed first where it makes another administrator. Only the hash of its token is stored. The role and
 * the session are checked again under the lock of the organisation's members.
 *
 * @throws AppError UNAUTHENTICATED if the session ended meanwhile; NO_ORGANISATION; NOT_FOUND if the
 *   page was another organisation's; FORBIDDEN if the principal is no longer an administrator, or
 *   the plan does not allow another member; VALIDATION if too many invitations are open; INTERNAL without a
 *   canonical base URL; for the role admin UNAUTHENTICATED for a wrong password, FRESH_SIGN_IN_REQUIRED, TOO_MANY, BUSY.
 */
export async function invite(
  app: App,
  principal: Administrator,
  { organisation_id, role, note, ...confirming }: z.output<typeof inviteInput>,
  client: Client,
) {
  const { id: organisationId } = requireSameOrganisation(principal, organisation_id);
  if (role === 'admin') await confirmUser(app, principal, confirming, client);
  const made = await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    await requireAdministrator(tx, await lockMembers(tx, organisationId), principal);
    return storeInvitation(app, tx, { organisationId, role, note }, { actorId: principal.user.id, client });
  });
  return { url: made.url, role, note, expires_at: made.expires_at };
}

type NewInvitation = { organisationId: string; role: 'admin' | 'member' | 'viewer'; note: string | null };

/**
 * Stores an invitation to an organisation whose members the caller has locked, as `invite` does. Its maker is the actor's
 * key, else the actor.
 */
export async function storeInvitation(
  app: App,
  tx: Transaction,
  { organisationId, role, note }: NewInvitation,
  actor: Actor,
): Promise<{ id: string; url: string; expires_at: string }> {
  const now = app.now();
  const token = newToken();
  const url = invitationLink(app.config, token);
  const expiresAt = new Date(now.getTime() + lifetimeDays * dayMilliseconds);
  await requireRoomForMember(app, tx, organisationId);
  const open = await tx.$count(invitations, isOpen(organisationId, now));
  if (open >= maximumOpen) throw new AppError('VALIDATION', message('too_many_invitations', { maximum: maximumOpen }));

  const id = newId(now);
  const maker = actor.keyId === undefined ? { createdBy: actor.actorId } : { keyId: actor.keyId };
  const row = { id, tokenHash: hashToken(token), organisationId, ...maker, role, note };
  await tx.insert(invitations).values({ ...row, createdAt: now, expiresAt });
  await recordAudit(tx, now, {
    action: 'invitation-made',
    ...actor,
    organisationId,
    details: { invitation: id, role },
  });
  return { id, url, expires_at: expiresAt.toISOString() };
}

/**
 * Returns the organisation's unused invitations, the first to expire first.
 *
 * @throws AppError NO_ORGANISATION.
 */
export async function listInvitations(app: App, principal: Administrator) {
  const organisation = principal.requireOrganisation();

  const open = await app.db
    .select({
      id: invitations.id,
      role: invitations.role,
      note: invitations.note,
      creator: { email: users.email, name: users.name },
      createdAt: invitations.createdAt,
      expiresAt: invitations.expiresAt,
    })
    .from(invitations)
    .leftJoin(users, eq(users.id, invitations.createdBy))
    .where(isOpen(organisation.id, app.now()))
    .orderBy(asc(invitations.expiresAt), asc(invitations.id));
  return open.map(({ id, role, note, creator, createdAt, expiresAt }) => ({
    id,
    role,
    note,
    made_by: creator,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }));
}

/**
 * Deletes an unused invitation of the organisation.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND if there is
 *   no such invitation.
 */
export async function revokeInvitation(
  app: App,
  principal: Administrator,
  { id }: z.output<typeof revokeInvitationInput>,
  client: Client,
): Promise<void> {
  const { id: organisationId } = principal.requireOrganisation();

  const actor = { actorId: principal.user.id, client };
  await app.db.transaction((tx) => deleteInvitation(app, tx, { organisationId, id }, actor));
}

/** Deletes an unused invitation of an organisation. @throws AppError NOT_FOUND if there is no such invitation. */
export async function deleteInvitation(
  app: App,
  tx: Transaction,
  { organisationId, id }: { organisationId: string; id: string },
  actor: Actor,
): Promise<void> {
  const revoked = await tx
    .delete(invitations)
    .where(and(eq(invitations.id, id), eq(invitations.organisationId, organisationId)))
    .returning({ id: invitations.id });
  if (revoked.length === 0) throw new AppError('NOT_FOUND', message('no_such_invitation'));
  const entry = { ...actor, organisationId, details: { invitation: id } };
  await recordAudit(tx, app.now(), { action: 'invitation-withdrawn', ...entry });
}

export function isOpen(organisationId: string, now: Date) {
  return and(eq(invitations.organisationId, organisationId), gt(invitations.expiresAt, now));
}
