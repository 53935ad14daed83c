import type { App } from '../../app.ts';
import type { Transaction } from '../../db/client.ts';
import type { verificationLinks } from '../../db/schema/accounts.ts';
import type { Account } from '../../sessions/account.ts';
import { newPageToken } from '../password/one-time-token.ts';
import { isApprovedDomain } from '../sign-up/approved-domain.ts';
import { pendingSignUp, signUpOf } from '../sign-up/pending-sign-up.ts';
import { unnamedOrganisation } from '../sign-up/unnamed-organisation.ts';
import type { Offers, PasswordForm } from './outcome.ts';

type Link = typeof verificationLinks.$inferSelect;

type Holder = { link: Link; browserToken: string | null; account: Account };

/**
 * What the page of a consumed link for a sign-up or a lost password offers, each with a
 * fresh token. For a caller that holds the lock of the user's row and has seen that the
 * link is alive: a password that is set meanwhile ends the offers before or after this.
 */
export async function makeOffers(app: App, tx: Transaction, { link, browserToken, account }: Holder): Promise<Offers> {
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

/** An owner whose organisation got no name yet names it in the same form. */
async function passwordForm(app: App, tx: Transaction, { link, account }: Omit<Holder, 'browserToken'>) {
  const { id: userId, passwordHash, idpSubject } = account.user;
  const isNew = passwordHash === null && idpSubject === null;
  const isNamed = !isNew || (await unnamedOrganisation(tx, userId)) === null;
  const token = await newPageToken(app, tx, link, 'new-password');
  const form: PasswordForm = { token, organisationName: null };
  return isNamed ? form : { ...form, organisationName: (await pendingSignUp(tx, link))?.organisationName ?? '' };
}
