import { createHmac } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { readInvitation } from '../../organisations/invitation.ts';
import { createOrganisation } from '../../organisations/organisation.ts';
import { prepared, type Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { signUps, users } from '../../platform/db/schema/accounts.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { emailField } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { deploymentSecret } from '../../platform/security/deployment-secret.ts';
import { beginHash } from '../../platform/security/password.ts';
import { newPasswordField } from '../../platform/security/password-rules.ts';
import { constantTimeEqual, hashToken, newToken } from '../../platform/security/token.ts';
import { requireNewPassword } from '../password/require-new-password.ts';
import { isKnownBrowser } from '../sessions/known-browser.ts';
import { organisationNameField } from './pending-sign-up.ts';

export const signUpInput = z.object({
  email: emailField,
  password: newPasswordField,
  org_name: organisationNameField,
  /** The token of an invitation: the new account gets no organisation of its own. */
  invitation: z
    .string({ error: zodMessage('invitation_invalid') })
    .nullish()
    .transform((token) => token || null),
});

/**
 * Creates an organisation that awaits approval and its unverified owner, and enqueues a mail with a
 * verification link. With an invitation only an account is created; it joins once the address
 * is confirmed, and the invitation stays as it is. For a known address the account stays as
 * it is: what was typed is kept until the link is opened (a verified account gets a link for a
 * lost password and keeps its password). The answer and the amount of work are the same.
 *
 * @param carried the browser's cookie of an earlier sign-up; null if it has none.
 * @returns the normalised address, and the token for the browser that signed up.
 * @throws AppError VALIDATION if a field is invalid; BUSY if too many passwords are being
 *   hashed, or the account is being deleted.
 */
export async function signUp(
  app: App,
  { email, password, org_name: name, invitation }: z.output<typeof signUpInput>,
  client: Client,
  carried: string | null = null,
) {
  await requireNewPassword(app, password, email);
  const invited = invitation !== null;
  if (invited && (await readInvitation(app, app.db, invitation)) === null)
    throw invalid({ invitation: message('invitation_invalid') });

  const { hashed } = await beginHash(password, client);
  const fromKnownBrowser = await isKnownBrowser(app, app.db, { email, token: client.knownBrowser });

  const { language } = client;
  const now = app.now();
  const browserToken = await browserTokenFor(app, carried);
  await app.db.transaction(async (tx) => {
    const { userId, isNew } = await insertOrLockUser(tx, email, now);
    const signUpId = newId(now);
    const organisationId = isNew && !invited ? newId(now) : null;
    const action = isNew ? 'signed-up' : 'signed-up-again';
    if (organisationId === null) await lockedUser(tx).execute({ email });
    else await createOrganisation(tx, now, { id: organisationId, ownerId: userId, name, email });

    // So far the password was being hashed, which takes longer. So the time of the answer does not show whether the
    // address was known. From here on both are the same.
    const passwordHash = await hashed;
    await recordAudit(tx, now, { action, userId, organisationId, client });
    await signUpInsertion(tx).execute({
      id: signUpId,
      userId,
      passwordHash,
      organisationName: invited ? null : name,
      invited,
      browserHash: hashToken(browserToken),
      createdAt: now,
    });
    await app.jobs.send(tx, 'verification-mail', { email, signUpId, fromKnownBrowser, language });
  });
  app.jobs.wake('verification-mail');
  app.metrics.count('gatehouse_sign_ups_total', { way: 'password' });

  return { email, browserToken };
}

/**
 * Inserts a user, or locks the one who has the address, so that the account is not deleted before this transaction
 * commits. Both statements are sent in any case.
 *
 * @throws AppError BUSY if the account is being deleted.
 */
async function insertOrLockUser(tx: Transaction, email: string, now: Date) {
  const [[inserted], [user]] = await Promise.all([
    userInsertion(tx).execute({ id: newId(now), email, createdAt: now }),
    lockedUser(tx).execute({ email }),
  ]);
  if (user === undefined) {
    throw new AppError('BUSY', message('busy'), { retryAfterSeconds: 1 });
  }
  return { userId: user.id, isNew: inserted !== undefined };
}

const userInsertion = prepared((db) =>
  db
    .insert(users)
    .values({ id: sql.placeholder('id'), email: sql.placeholder('email'), createdAt: sql.placeholder('createdAt') })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id })
    .prepare('sign_up_user'),
);

const lockedUser = prepared((db) =>
  db
    .select({ id: users.id })
    .from(users)
    .where(eq(users.email, sql.placeholder('email')))
    .for('key share')
    .prepare('sign_up_locked_user'),
);

const signUpInsertion = prepared((db) =>
  db
    .insert(signUps)
    .values({
      id: sql.placeholder('id'),
      userId: sql.placeholder('userId'),
      passwordHash: sql.placeholder('passwordHash'),
      organisationName: sql.placeholder('organisationName'),
      invited: sql.placeholder('invited'),
      browserHash: sql.placeholder('browserHash'),
      createdAt: sql.placeholder('createdAt'),
    })
    .prepare('sign_up'),
);

/**
 * Returns the token for the browser of a sign-up: the one that an earlier sign-up gave it, for as long as the link of
 * that one may be opened, so that the browser is recognised by the links of them all; else a new one. It is random, dated
 * and signed, because to look it up would tell whether the address of the earlier sign-up has an account.
 */
async function browserTokenFor(app: App, carried: string | null): Promise<string> {
  const key = Buffer.from(await deploymentSecret(app, 'sign-ups'), 'base64url');
  const sign = (dated: string) => `${dated}.${createHmac('sha256', key).update(dated).digest('base64url')}`;

  const [random = '', at = ''] = (carried ?? '').split('.');
  const age = app.now().getTime() - Number(at);
  const isRecent = age >= 0 && age < app.config.verificationTtlSeconds * 1000;
  if (carried !== null && isRecent && constantTimeEqual(carried, sign(`${random}.${at}`))) return carried;
  return sign(`${newToken(16)}.${app.now().getTime()}`);
}
