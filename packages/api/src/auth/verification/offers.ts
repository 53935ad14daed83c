import type { App } from '../../app.ts';
import { isApprovedDomain } from '../../organisations/account-status.ts';
import type { Transaction } from '../../platform/db/client.ts';
import type { verificationLinks } from '../../platform/db/schema/accounts.ts';
import { newPageToken } from '../password/one-time-token.ts';
import type { Account } from '../sessions/account.ts';
import { signUpOf } from '../sign-up/pending-sign-up.ts';
import { unnamedOrganisation } from '../sign-up/provision-organisation.ts';
import type { Offers, PasswordForm } from './outcome.ts';

type Link = typeof verificationLinks.$inferSelect;

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
