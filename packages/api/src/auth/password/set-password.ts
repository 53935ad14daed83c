import { and, eq, gt, inArray, isNull, ne } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { renameOrganisation } from '../../organisations/organisation.ts';
import { type Ended, endStarted, keepKeysField, readStarted } from '../../organisations/started.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities, oneTimeTokens, users, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { hashPassword } from '../../platform/security/password.ts';
import { newPasswordField, type Password } from '../../platform/security/password-rules.ts';
import { hashToken } from '../../platform/security/token.ts';
import { requireReview } from '../factors/review.ts';
import { endStepsAndTrust } from '../factors/step-attempt.ts';
import { type Account, accountById } from '../sessions/account.ts';
import { acknowledgeAllBrowsers } from '../sessions/known-browser.ts';
import { unlinkFrom } from '../sign-in/unlink-identity.ts';
import { endSignUps, organisationNameField, unnamedOrganisation } from '../sign-up/pending-sign-up.ts';
import { endLinks, linkOfPageToken } from '../verification/link.ts';
import { consumeOneTimeToken } from './one-time-token.ts';
import { requireNewPassword } from './require-new-password.ts';

const settingPurposes: ('password-link' | 'new-password')[] = ['password-link', 'new-password'];

export const setPasswordInput = z.object({
  token: z.string({ error: zodMessage('link_no_longer_valid') }),
  password: newPasswordField,
  /** From the page of a sign-up's link, where an owner names the organisation. */
  org_name: organisationNameField,
  /** Keeps the connected identity, which the page names. */
  keep_identity: z.boolean().optional(),
  keep_keys: keepKeysField,
});

type SetPassword = {
  token: string;
  password: Password;
  org_name?: string | null;
  keep_identity?: boolean | undefined;
  keep_keys?: boolean | undefined;
};

/**
 * Sets a password for the holder of a one-time token: an operator's password link, or the form on the page of a
 * verification link. There an owner whose organisation has no name yet names it too. All sessions and links of the user
 * end, with the invitations, links and API keys that they made, and a connected identity is unlinked: somebody who knew
 * the old password may have started or connected them. The holder keeps the identity and the keys by saying so. No
 * session begins. Returns what ended.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, or the password is not
 *   accepted; BUSY if too many passwords are being hashed.
 */
export async function setPassword(
  app: App,
  { token, password, org_name: name = null, keep_identity: keepsIdentity, keep_keys: keepsKeys }: SetPassword,
  client: Client,
): Promise<Ended> {
  const { user: owner } = await ownerOf(app, token);
  await requireNewPassword(app, password, owner.email);
  const passwordHash = await hashPassword(password, client);

  return app.db.transaction(async (tx) => {
    const { account, isFirst } = await takeSettingToken(app, tx, token);
    if (name !== null && account.user.passwordHash === null) await nameOrganisation(app, tx, account.user, name);
    if (!isFirst && !keepsIdentity) await unlinkFrom(app, tx, { userId: account.user.id, client });
    return replacePassword(app, tx, { userId: account.user.id, passwordHash, keepsKeys, client });
  });
}

type NewPassword = { userId: string; passwordHash: string; keepsKeys?: boolean | undefined; client: Client };

/**
 * Makes a password the only one of a user, whose row the caller has locked. The sessions, links and pending sign-ups of
 * the user end, with what they made; the button that approves on the page of a link stays, because it proves the same
 * mailbox. Returns what ended.
 */
export async function replacePassword(
  app: App,
  tx: Transaction,
  { userId, passwordHash, keepsKeys = false, client }: NewPassword,
): Promise<Ended> {
  const now = app.now();
  await tx.update(users).set({ passwordHash }).where(eq(users.id, userId));
  await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.userId, userId), ne(oneTimeTokens.purpose, 'approval')));
  await tx.delete(sessions).where(eq(sessions.userId, userId));
  await endStepsAndTrust(app, tx, userId);
  await requireReview(app, tx, userId);
  const keys = keepsKeys ? 'keep' : 'revoke';
  const actor = { actorId: userId, client };
  const ended = await endStarted(tx, now, { userId, of: 'everything', keys, actor });
  await acknowledgeAllBrowsers(tx, now, userId);
  await endLinks(tx, userId, now);
  await endSignUps(tx, userId, now);
  await recordAudit(tx, now, { action: 'password-set', userId, client });
  return ended;
}

/**
 * Reads the account again under the lock, because it may have been closed while the password was hashed. `isFirst` says
 * that the token stood on the page of a sign-up's link: nobody can have connected an identity by an older password.
 */
async function takeSettingToken(app: App, tx: Transaction, token: string) {
  const taken = await consumeOneTimeToken(app, tx, token, settingPurposes);
  if (taken.purpose === 'new-password') {
    const { account, link } = await linkOfPageToken(tx, taken);
    return { account, isFirst: link.purpose === 'sign-up' };
  }

  const account = await accountById(tx, taken.userId);
  if (account === null || account.accountStatus === 'closed')
    throw new AppError('VALIDATION', message('link_no_longer_valid'));
  return { account, isFirst: false };
}

async function nameOrganisation(app: App, tx: Transaction, { id, email }: Account['user'], name: string) {
  const organisationId = await unnamedOrganisation(tx, id);
  if (organisationId !== null) await renameOrganisation(tx, app.now(), { id: organisationId, name, email });
}

export const passwordTokenInput = z.object({ token: z.string({ error: zodMessage('link_no_longer_valid') }) });

/**
 * Returns whose password a one-time token would set, and what ends then, without consuming it.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired.
 */
export async function readPasswordToken(app: App, { token }: z.output<typeof passwordTokenInput>) {
  const { user, isFirst } = await ownerOf(app, token);
  const { identity, started } = await readWhatLinksEnd(app, user.id);
  return { email: user.email, identity: isFirst ? null : identity, started };
}

/**
 * Returns what ends when a user proves by a link who they are: the connected identity, by its address or else its
 * issuer, and what they started.
 */
export async function readWhatLinksEnd(app: App, userId: string) {
  const [identity] = await app.db
    .select({ email: identities.email, issuer: identities.issuer })
    .from(identities)
    .where(and(eq(identities.userId, userId), isNull(identities.unlinkedAt)));
  return {
    identity: identity === undefined ? null : (identity.email ?? identity.issuer),
    started: await readStarted(app.db, app.now(), { userId, of: 'everything' }),
  };
}

/** Reads the token's user without consuming the token, so that a refused password leaves the token valid. */
async function ownerOf(app: App, token: string) {
  const [held] = await app.db
    .select({ userId: oneTimeTokens.userId, linkPurpose: verificationLinks.purpose })
    .from(oneTimeTokens)
    .leftJoin(verificationLinks, eq(verificationLinks.tokenHash, oneTimeTokens.linkHash))
    .where(
      and(
        eq(oneTimeTokens.tokenHash, hashToken(token)),
        inArray(oneTimeTokens.purpose, settingPurposes),
        gt(oneTimeTokens.expiresAt, app.now()),
      ),
    );
  const account = held === undefined ? null : await accountById(app.db, held.userId);
  if (account === null || account.accountStatus === 'closed')
    throw new AppError('VALIDATION', message('link_no_longer_valid'));
  return { user: account.user, isFirst: held?.linkPurpose === 'sign-up' };
}
