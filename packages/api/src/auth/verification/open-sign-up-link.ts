import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { recordJoined } from '../../changes/record-change.ts';
import { approveByAddress } from '../../organisations/approve.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { signUps, users } from '../../platform/db/schema/accounts.ts';
import { accountById } from '../sessions/account.ts';
import { endSignUps, signUpOf } from '../sign-up/pending-sign-up.ts';
import { provisionOrganisation } from '../sign-up/provision-organisation.ts';
import { endEqualLinks } from './end-links.ts';
import { createOffers } from './offers.ts';
import { invalidLink, type OpenedLink, type Outcome } from './outcome.ts';

/**
 * Opens the e-mail gate. In the browser of the link's sign-up, the password and the
 * organisation's name typed there become valid. In any other browser no password becomes
 * valid, and the outcome offers a form to choose one.
 *
 * @throws AppError VALIDATION if the account is already verified, or closed.
 */
export async function openSignUpLink(app: App, tx: Transaction, opening: OpenedLink): Promise<Outcome> {
  const { link, browserToken, client } = opening;
  const now = app.now();
  const signUp = await signUpOf(tx, link, browserToken);
  const account = await accountById(tx, link.userId);
  if (account?.accountStatus !== 'unverified') throw invalidLink();

  const requested =
    signUp === null ? await requestedByAny(tx, link.userId, account.organisationId) : requestedBy(signUp);
  const current = { userId: link.userId, email: link.email, organisationId: account.organisationId };
  const organisationId = await provisionOrganisation(tx, now, { ...current, wanted: requested });
  await tx
    .update(users)
    .set({ emailVerifiedAt: now, ...(signUp && { passwordHash: signUp.passwordHash }) })
    .where(eq(users.id, link.userId));
  await endEqualLinks(tx, link, now);
  if (signUp !== null) await endSignUps(tx, link.userId, now);
  await recordAudit(tx, now, {
    action: 'address-verified',
    userId: link.userId,
    organisationId,
    client,
    details: { same_browser: String(signUp !== null) },
  });
  if (organisationId !== null) await recordJoined(tx, now, { organisationId, userId: link.userId });
  if (signUp !== null && organisationId !== null) {
    await approveByAddress(app, tx, { organisationId, email: link.email, client });
  }

  const verified = await accountById(tx, link.userId);
  if (verified === null) throw invalidLink();
  return {
    ok: true,
    kind: 'address-confirmed',
    awaitingApproval: verified.accountStatus === 'awaiting_approval',
    invited: verified.organisationId === null,
    offers: await createOffers(app, tx, { link, browserToken, account: verified }),
  };
}

/** Returns the organisation that a sign-up requested; null if it was by invitation. */
export function requestedBy({
  invited,
  organisationName,
}: typeof signUps.$inferSelect): { name: string | null } | null {
  return invited ? null : { name: organisationName };
}

/**
 * A link opened in another browser does not prove any of the typed names. An existing
 * organisation stays, without a name. Without one, an organisation is created unless all
 * sign-ups were by invitation.
 */
async function requestedByAny(tx: Transaction, userId: string, organisationId: string | null) {
  if (organisationId !== null) return { name: null };
  const own = and(eq(signUps.userId, userId), eq(signUps.invited, false), isNull(signUps.usedAt));
  return (await tx.$count(signUps, own)) > 0 ? { name: null } : null;
}
