import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../db/client.ts';
import { signUps, users } from '../../db/schema/accounts.ts';
import { AppError } from '../../errors.ts';
import { approveWaiting } from '../../organisations/approve.ts';
import { accountById } from '../../sessions/account.ts';
import { isApprovedDomain } from '../sign-up/approved-domain.ts';
import { endSignUps, signUpOf } from '../sign-up/pending-sign-up.ts';
import { provisionOrganisation } from '../sign-up/provision-organisation.ts';
import { endEqualLinks } from './end-links.ts';
import { makeOffers } from './offers.ts';
import type { Opening } from './opening.ts';
import type { Outcome } from './outcome.ts';

/**
 * Opens the e-mail gate. In the browser whose sign-up the link belongs to, the password
 * and the organisation's name that were typed there become valid. Anywhere else none does:
 * the outcome offers to choose them.
 *
 * @throws AppError VALIDATION where the account is verified already or closed.
 */
export async function openSignUpLink(app: App, tx: Transaction, opening: Opening): Promise<Outcome> {
  const { link, browserToken, client } = opening;
  const now = app.now();
  const signUp = await signUpOf(tx, link, browserToken);
  const opened = await tx
    .update(users)
    .set({ emailVerifiedAt: now, ...(signUp && { passwordHash: signUp.passwordHash }) })
    .where(and(eq(users.id, link.userId), isNull(users.emailVerifiedAt), isNull(users.suspendedAt)))
    .returning({ id: users.id });
  const person = await accountById(tx, link.userId);
  if (opened.length === 0 || person === null || person.accountStatus === 'closed') throw notValid();

  const wanted = signUp === null ? await wantedByAny(tx, link.userId, person.organisationId) : wantedBy(signUp);
  const account = { userId: link.userId, email: link.email, organisationId: person.organisationId };
  const organisationId = await provisionOrganisation(tx, now, { ...account, wanted });
  await endEqualLinks(tx, link, now);
  if (signUp !== null) await endSignUps(tx, link.userId, now);
  await recordAudit(tx, now, {
    action: 'address-verified',
    userId: link.userId,
    organisationId,
    client,
    details: { same_browser: String(signUp !== null) },
  });
  if (signUp !== null && organisationId !== null && isApprovedDomain(app, link.email)) {
    await approveWaiting(tx, { organisationIds: [organisationId], actorId: null, client, now });
  }

  const verified = await accountById(tx, link.userId);
  if (verified === null) throw notValid();
  return {
    ok: true,
    kind: 'address-confirmed',
    awaitingApproval: verified.accountStatus === 'awaiting_approval',
    invited: verified.organisationId === null,
    offers: await makeOffers(app, tx, { link, browserToken, person: verified }),
  };
}

/** The organisation that a sign-up asked for; null by an invitation, which brings none. */
export function wantedBy({ invited, organisationName }: typeof signUps.$inferSelect): { name: string | null } | null {
  return invited ? null : { name: organisationName };
}

/**
 * A link that was opened elsewhere proves none of the names that were typed: an organisation
 * stays, without a name, and where there is none, one is made unless every sign-up came by
 * an invitation.
 */
async function wantedByAny(tx: Transaction, userId: string, organisationId: string | null) {
  if (organisationId !== null) return { name: null };
  const own = and(eq(signUps.userId, userId), eq(signUps.invited, false), isNull(signUps.usedAt));
  return (await tx.$count(signUps, own)) > 0 ? { name: null } : null;
}

function notValid(): AppError {
  return new AppError('VALIDATION', 'This link is not valid.');
}
