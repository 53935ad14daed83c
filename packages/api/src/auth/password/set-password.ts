import { and, eq, gt, inArray, ne } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { renameOrganisation } from '../../organisations/rename.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { oneTimeTokens, users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import type { Client } from '../../platform/security/client.ts';
import { hashPassword } from '../../platform/security/password.ts';
import { newPasswordField, type Password, passwordFault } from '../../platform/security/password-rules.ts';
import { hashToken } from '../../platform/security/token.ts';
import { type Account, accountById } from '../sessions/account.ts';
import { organisationNameField } from '../sign-up/organisation-name-field.ts';
import { endSignUps } from '../sign-up/pending-sign-up.ts';
import { unnamedOrganisation } from '../sign-up/unnamed-organisation.ts';
import { endLinks } from '../verification/end-links.ts';
import { linkOfPageToken } from '../verification/link-of-page-token.ts';
import { endInvitations } from './end-invitations.ts';
import { consumeOneTimeToken, linkNoLongerValid } from './one-time-token.ts';

const settingPurposes: ('password-link' | 'new-password')[] = ['password-link', 'new-password'];

export const setPasswordInput = z.object({
  token: z.string({ error: linkNoLongerValid }),
  password: newPasswordField,
  /** From the page of a sign-up's link, where an owner names the organisation. */
  org_name: organisationNameField,
});

/**
 * Sets a password for the holder of a one-time token: an operator's password link, or the
 * form on the page of a verification link. There an owner whose organisation has no name
 * yet names it too. All sessions, links and unused invitations of the user end, and no session
 * begins.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired, or the password is not
 *   accepted; BUSY if too many passwords are being hashed.
 */
export async function setPassword(
  app: App,
  { token, password, org_name: name = null }: { token: string; password: Password; org_name?: string | null },
  client: Client,
): Promise<void> {
  const owner = await ownerOf(app, token);
  const fault = await passwordFault(password, [owner.email, app.config.service.name]);
  if (fault !== null) throw invalid({ password: fault });
  const passwordHash = await hashPassword(password, client);

  await app.db.transaction(async (tx) => {
    const account = await takeSettingToken(app, tx, token);
    if (name !== null && account.user.passwordHash === null) await nameOrganisation(app, tx, account.user, name);
    await replacePassword(app, tx, { userId: account.user.id, passwordHash, client });
  });
}

type NewPassword = { userId: string; passwordHash: string; client: Client };

/**
 * Makes a password the only one of a user, whose row the caller has locked. The sessions,
 * links and pending sign-ups of the user end; the button that approves on the page of a
 * link stays, because it proves the same mailbox.
 */
export async function replacePassword(app: App, tx: Transaction, { userId, passwordHash, client }: NewPassword) {
  const now = app.now();
  await tx.update(users).set({ passwordHash }).where(eq(users.id, userId));
  await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.userId, userId), ne(oneTimeTokens.purpose, 'approval')));
  await tx.delete(sessions).where(eq(sessions.userId, userId));
  await endInvitations(tx, userId, null);
  await endLinks(tx, userId, now);
  await endSignUps(tx, userId, now);
  await recordAudit(tx, now, { action: 'password-set', userId, client });
}

/** Reads the account again under the lock, because it may have been closed while the password was hashed. */
async function takeSettingToken(app: App, tx: Transaction, token: string): Promise<Account> {
  const taken = await consumeOneTimeToken(app, tx, token, settingPurposes);
  if (taken.purpose === 'new-password') return (await linkOfPageToken(tx, taken)).account;

  const account = await accountById(tx, taken.userId);
  if (account === null || account.accountStatus === 'closed') throw new AppError('VALIDATION', linkNoLongerValid);
  return account;
}

async function nameOrganisation(app: App, tx: Transaction, { id, email }: Account['user'], name: string) {
  const organisationId = await unnamedOrganisation(tx, id);
  if (organisationId !== null) await renameOrganisation(tx, app.now(), { id: organisationId, name, email });
}

export const passwordTokenInput = z.object({ token: z.string({ error: linkNoLongerValid }) });

/**
 * Returns the address of the user whose password a one-time token would set, without consuming it.
 *
 * @throws AppError VALIDATION if the token is unknown, used or expired.
 */
export async function readPasswordToken(app: App, { token }: z.output<typeof passwordTokenInput>) {
  const { email } = await ownerOf(app, token);
  return { email };
}

/** Reads the token's user without consuming the token, so that a refused password leaves the token valid. */
async function ownerOf(app: App, token: string) {
  const [held] = await app.db
    .select({ userId: oneTimeTokens.userId })
    .from(oneTimeTokens)
    .where(
      and(
        eq(oneTimeTokens.tokenHash, hashToken(token)),
        inArray(oneTimeTokens.purpose, settingPurposes),
        gt(oneTimeTokens.expiresAt, app.now()),
      ),
    );
  const account = held === undefined ? null : await accountById(app.db, held.userId);
  if (account === null || account.accountStatus === 'closed') throw new AppError('VALIDATION', linkNoLongerValid);
  return account.user;
}
