import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { isApprovedDomain } from '../../organisations/account-status.ts';
import type { Ended } from '../../organisations/started.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { addressChanges, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { AppError, type Text } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { newPageToken } from '../password/one-time-token.ts';
import { type Account, accountById } from '../sessions/account.ts';
import { signUpOf, unnamedOrganisation } from '../sign-up/pending-sign-up.ts';

type Link = typeof verificationLinks.$inferSelect;

/** What the page of a verification link offers to its holder, each by a fresh one-time token. */
type Offers = {
  password: PasswordForm | null;
  /** For the browser that signed up: the token by which the password typed there becomes valid. */
  keepToken: string | null;
  /** For the button that approves, where APPROVED_DOMAINS names the address's domain. */
  approvalToken: string | null;
};

type PasswordForm = {
  token: string;
  /** The initial value of the field for the organisation's name; null if the form has no such field. */
  organisationName: string | null;
};

export const noOffers: Offers = { password: null, keepToken: null, approvalToken: null };

/** The outcome of opening a verification link. `ok` decides the status of the answer: 200 or 400. */
export type Outcome =
  | {
      ok: true;
      kind: 'address-confirmed';
      email: string;
      awaitingApproval: boolean;
      /** The account has no organisation of its own: it is to join another one by an invitation. */
      invited: boolean;
      offers: Offers;
    }
  | { ok: true; kind: 'password-offered'; awaitingApproval: boolean; email: string; offers: Offers }
  | { ok: true; kind: 'address-changed'; awaitingApproval: boolean; ended: Ended }
  | { ok: true; kind: 'change-offered'; awaitingApproval: boolean; email: string; changeToken: string }
  | FailedOutcome;

/** A link that changed nothing. One that was used within its lifetime still offers what was not done yet. */
export type FailedOutcome =
  | { ok: false; kind: 'confirmed-already'; text: Text; offers: Offers }
  | { ok: false; kind: 'change-offered'; text: Text; email: string; changeToken: string }
  | { ok: false; kind: 'dead'; text: Text };

/** Returns the AppError VALIDATION for a verification link that is unknown, used, expired or of no use to its account. */
export function invalidLink(): AppError {
  return new AppError('VALIDATION', message('link_invalid'));
}

/** A verification link that was just consumed, and what else the request proves. */
export type OpenedLink = {
  link: Link;
  /** The token of the cookie that a sign-up sets. */
  browserToken: string | null;
  /** The user whose session the request carries. */
  signedInUserId: string | null;
  client: Client;
};

type ConsumedLink = { link: Link; browserToken: string | null; account: Account };

/**
 * Creates the offers of the page of a consumed link for a sign-up or a lost password, each with a
 * new token. The caller has locked the user's row and checked that the link is still valid, so
 * that a concurrent change of the password either prevents the offers or ends them.
 */
export async function createOffers(
  app: App,
  tx: Transaction,
  { link, browserToken, account }: ConsumedLink,
): Promise<Offers> {
  const { passwordHash } = account.user;
  const needsPassword = passwordHash === null || link.purpose === 'lost-password';
  const mayKeep = passwordHash === null && (await signUpOf(tx, link, browserToken)) !== null;
  const mayApprove =
    account.accountStatus === 'awaiting_approval' &&
    account.organisationId !== null &&
    isApprovedDomain(app, link.email);

  return {
    password: needsPassword ? await passwordForm(app, tx, { link, account }) : null,
    keepToken: mayKeep ? await newPageToken(app, tx, link, 'keep-password') : null,
    approvalToken: mayApprove ? await newPageToken(app, tx, link, 'approval') : null,
  };
}

/** Returns the form for a new password. An owner whose organisation has no name yet also names it there. */
async function passwordForm(app: App, tx: Transaction, { link, account }: Omit<ConsumedLink, 'browserToken'>) {
  const { id: userId, passwordHash, idpSubject } = account.user;
  const isNew = passwordHash === null && idpSubject === null;
  const isNamed = !isNew || (await unnamedOrganisation(tx, userId)) === null;
  const token = await newPageToken(app, tx, link, 'new-password');
  const form: PasswordForm = { token, organisationName: null };
  // Empty: what a stranger typed at sign-up must not stand on a page of ours in the browser of the address's owner.
  return isNamed ? form : { ...form, organisationName: '' };
}

/**
 * Returns the link whose page contained a token that was just consumed, and the user's account.
 *
 * @throws AppError VALIDATION if the account is closed, or the link went to an address that
 *   is not the user's, unless it is for a change of address.
 */
export async function linkOfPageToken(
  tx: Transaction,
  { userId, linkHash }: { userId: string; linkHash: string | null },
) {
  const account = await accountById(tx, userId);
  const [link] = await tx
    .select()
    .from(verificationLinks)
    .where(eq(verificationLinks.tokenHash, linkHash ?? ''));
  const isAddressee = link?.purpose === 'change-address' || link?.email === account?.user.email;
  if (link === undefined || account === null || account.accountStatus === 'closed' || !isAddressee) {
    throw new AppError('VALIDATION', message('link_no_longer_valid'));
  }
  return { link, account };
}

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
 * still offer; a change of address that was requested is no longer pending. A user who sets a new password because another person knew the old one must
 * not lose the account to a link that is still valid. The rows stay, because the mail limits count
 * them, and the page of a lost-password link still says that the address is confirmed.
 */
export async function endLinks(tx: Transaction, userId: string, now: Date, kept: Link | null = null): Promise<void> {
  const at = now.toISOString();
  await tx.delete(addressChanges).where(eq(addressChanges.userId, userId));
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
