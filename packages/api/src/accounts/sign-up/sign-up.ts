import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../db/client.ts';
import { newId } from '../../db/id.ts';
import { signUps, users } from '../../db/schema/accounts.ts';
import { AppError, invalid } from '../../errors.ts';
import { createOrganisation } from '../../organisations/create.ts';
import { readInvitation } from '../../organisations/invitation.ts';
import { emailField } from '../../security/address.ts';
import type { Client } from '../../security/client.ts';
import { hashPassword, newPasswordField, passwordFault } from '../../security/password.ts';
import { hashToken, newToken } from '../../security/token.ts';
import { isKnownBrowser } from '../../sessions/known-browser.ts';
import { organisationNameField } from './organisation-name-field.ts';

const notValid = 'This invitation is no longer valid.';

export const signUpInput = z.object({
  email: emailField,
  password: newPasswordField,
  org_name: organisationNameField,
  /** The token of an invitation: the new account gets no organisation of its own. */
  invitation: z
    .string({ error: notValid })
    .nullish()
    .transform((token) => token || null),
});

/**
 * Creates an organisation and its owner, both gates shut, and enqueues a mail with a
 * verification link. With an invitation only an account is created; it joins once the address
 * is confirmed, and the invitation stays as it is. For a known address the account stays as
 * it is: what was typed is kept until the link is opened (a verified account gets a link for a
 * lost password and keeps its password). The answer and the amount of work are the same.
 *
 * @returns the normalised address, and a token for the browser that signed up.
 * @throws AppError VALIDATION with the invalid fields; BUSY if too many passwords are being
 *   hashed, or the account is being deleted.
 */
export async function signUp(
  app: App,
  { email, password, org_name: name, invitation }: z.output<typeof signUpInput>,
  client: Client,
) {
  const fault = await passwordFault(password, [email, app.config.service.name]);
  if (fault !== null) throw invalid({ password: fault });
  const invited = invitation !== null;
  if (invited && (await readInvitation(app, app.db, invitation)) === null) throw invalid({ invitation: notValid });
  const passwordHash = await hashPassword(password, client);

  const fromKnownBrowser = await isKnownBrowser(app, app.db, { email, token: client.knownBrowser });

  const { language } = client;
  const now = app.now();
  const browserToken = newToken();
  await app.db.transaction(async (tx) => {
    const userId =
      (await createUser(tx, { email, name, invited, now, client })) ?? (await knownUser(tx, { email, now, client }));
    const signUpId = newId(now);
    await tx.insert(signUps).values({
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

type NewUser = { email: string; name: string | null; invited: boolean; now: Date; client: Client };

async function createUser(tx: Transaction, { email, name, invited, now, client }: NewUser) {
  const [user] = await tx
    .insert(users)
    .values({ id: newId(now), email, createdAt: now })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  if (user === undefined) return null;

  // Takes as long as creating an organisation, so that the time of the answer does not differ.
  const organisationId = invited
    ? await lockUserShared(tx, email).then(() => null)
    : await createOrganisation(tx, now, { ownerId: user.id, name, email });
  await recordAudit(tx, now, { action: 'signed-up', userId: user.id, organisationId, client });
  return user.id;
}

/** Runs as many statements as for a new account, so that the time of the answer does not differ. */
async function knownUser(tx: Transaction, { email, now, client }: { email: string; now: Date; client: Client }) {
  const user = await lockUserShared(tx, email);
  if (user === undefined) {
    throw new AppError('BUSY', 'The service is busy. Try again in a moment.', { retryAfterSeconds: 1 });
  }

  await recordAudit(tx, now, { action: 'signed-up-again', userId: user.id, client });
  return user.id;
}

/** Takes a shared lock, so that the account is not deleted before this transaction commits. */
async function lockUserShared(tx: Transaction, email: string) {
  const [user] = await tx.select({ id: users.id }).from(users).where(eq(users.email, email)).for('key share');
  return user;
}
