import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import type { Transaction } from '../db/client.ts';
import { newId } from '../db/id.ts';
import { signUps, users } from '../db/schema.ts';
import { invalid, Refusal } from '../errors.ts';
import { createOrganisation } from '../organisations/create.ts';
import { emailField } from '../security/address.ts';
import { hashPassword, newPasswordField, passwordFault } from '../security/password.ts';
import { oneLine } from '../security/text.ts';
import { hashToken, newToken } from '../security/token.ts';

type Client = { address: string; userAgent: string | null };

export const signUpInput = z.object({
  email: emailField,
  password: newPasswordField,
  org_name: oneLine(100)
    .nullish()
    .transform((name) => name || null),
});

/**
 * Creates an organisation and its owner, both gates shut, and has a verification link
 * mailed. For an address that is known already nothing of the account changes; what was
 * typed waits for the link, and the answer and the work are the same.
 *
 * @returns the normalised address, and a token for the browser that signed up.
 * @throws Refusal VALIDATION with the fields that are wrong.
 */
export async function signUp(
  app: App,
  { email, password, org_name: name }: z.output<typeof signUpInput>,
  client: Client,
) {
  const fault = passwordFault(password, [email, app.config.service.name]);
  if (fault !== null) throw invalid({ password: fault });
  const passwordHash = await hashPassword(password);

  const now = app.now();
  const browserToken = newToken();
  await app.db.transaction(async (tx) => {
    const userId =
      (await createOwner(tx, { email, name, now, client })) ?? (await knownUser(tx, { email, now, client }));
    const signUpId = newId(now);
    await tx.insert(signUps).values({
      id: signUpId,
      userId,
      passwordHash,
      organisationName: name,
      browserHash: hashToken(browserToken),
      createdAt: now,
    });
    await app.jobs.send(tx, 'verification-mail', { email, signUpId });
  });
  app.jobs.wake('verification-mail');
  app.metrics.count('gatehouse_sign_ups_total', { way: 'password' });

  return { email, browserToken };
}

async function createOwner(tx: Transaction, wanted: { email: string; name: string | null; now: Date; client: Client }) {
  const { email, name, now, client } = wanted;
  const [user] = await tx
    .insert(users)
    .values({ id: newId(now), email, createdAt: now })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  if (user === undefined) return null;

  const organisationId = await createOrganisation(tx, now, { ownerId: user.id, name, email });
  await record(tx, now, { action: 'signed-up', userId: user.id, organisationId, client });
  return user.id;
}

/** As many statements as for a new account, so that the time of the answer does not tell which it was. */
async function knownUser(tx: Transaction, { email, now, client }: { email: string; now: Date; client: Client }) {
  // Shared with whoever deletes the account meanwhile: the row stays until this commits.
  const [user] = await tx.select({ id: users.id }).from(users).where(eq(users.email, email)).for('key share');
  if (user === undefined) {
    throw new Refusal('BUSY', 'The service is busy. Try again in a moment.', { retryAfterSeconds: 1 });
  }

  await record(tx, now, { action: 'signed-up-again', userId: user.id, client });
  return user.id;
}
