import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { ManagingKey } from '../../auth/principal.ts';
import { deleteUnverifiedData } from '../../auth/sign-in/match-user.ts';
import { settleOrganisation, unprovenOrganisation } from '../../auth/sign-up/pending-sign-up.ts';
import { recordAllJoined } from '../../changes/record-change.ts';
import { markProvisioned, provisionOrganisation, renameOrganisation } from '../../organisations/organisation.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { newId } from '../../platform/db/id.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { emailField } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { oneLine } from '../../platform/security/text.ts';
import { byKey, conflict } from './authority.ts';
import { type ManagedUser, readUser } from './read-users.ts';

export const nameField = oneLine(100).refine((name) => name !== '', zodMessage('enter_name'));

export const createUserInput = z.strictObject({
  email: emailField,
  name: nameField.optional(),
  verified: z.boolean('This must be true or false.').default(false),
  organisation: z.strictObject({ name: nameField }).optional(),
});

/**
 * Creates a user, with an organisation that awaits approval if one is named. With `verified` the company vouches for the
 * address; else the usual mail leaves. An unverified account with the address counts as unknown: a vouched one takes it
 * over, and nothing of what a stranger may have typed stays.
 *
 * @throws AppError CONFLICT, with the `id`, for the address of a verified account; BUSY if the account is being deleted.
 */
export async function createUser(
  app: App,
  key: ManagingKey,
  { email, name, verified, organisation }: z.output<typeof createUserInput>,
  client: Client,
): Promise<ManagedUser> {
  const now = app.now();
  const actor = byKey(key, client);

  const user = await app.db.transaction(async (tx) => {
    const userId = (await insertUser(tx, now, { email, name })) ?? (await takeUnverified(tx, email));
    if (verified) await vouch(tx, now, { userId, email });
    const facts = { provisioned: true, invitedOnly: false, ...(name !== undefined && { name }) };
    await tx.update(users).set(facts).where(eq(users.id, userId));

    const organisationId =
      organisation === undefined ? null : await nameOrganisation(tx, now, { userId, email, name: organisation.name });
    if (verified) {
      // Last, because only then do other services learn of the memberships.
      await tx.update(users).set({ emailVerifiedAt: now }).where(eq(users.id, userId));
      await recordAllJoined(tx, now, userId);
    }
    const details = { verified: String(verified) };
    await recordAudit(tx, now, { action: 'person-created', ...actor, userId, organisationId, details });
    if (!verified) await app.jobs.send(tx, 'verification-mail', { email });
    return readUser(tx, userId);
  });
  if (!verified) app.jobs.wake('verification-mail');
  return user;
}

/** Returns the id of the new user; null if the address is known. */
async function insertUser(
  tx: Transaction,
  now: Date,
  { email, name }: { email: string; name: string | undefined },
): Promise<string | null> {
  const [user] = await tx
    .insert(users)
    .values({ id: newId(now), email, name: name ?? null, provisioned: true, createdAt: now })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  return user?.id ?? null;
}

/** Locks the unverified account of an address, and returns its id. */
async function takeUnverified(tx: Transaction, email: string): Promise<string> {
  const [known] = await tx
    .select({ id: users.id, emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(users.email, email))
    .for('update');
  if (known === undefined) throw new AppError('BUSY', message('busy'), { retryAfterSeconds: 1 });
  if (known.emailVerifiedAt !== null) throw conflict('A user has this address already.', { id: known.id });
  return known.id;
}

/** Removes what nobody has proved (design.md 3.10): another person may have signed up with the address. */
async function vouch(tx: Transaction, now: Date, { userId, email }: { userId: string; email: string }): Promise<void> {
  await deleteUnverifiedData(tx, userId);
  await settleOrganisation(tx, now, { userId, email, wanted: null });
}

/** Gives the user an organisation of the company's naming: that of an unproved sign-up, if there is one, else a new one. */
async function nameOrganisation(
  tx: Transaction,
  now: Date,
  { userId, email, name }: { userId: string; email: string; name: string },
): Promise<string> {
  const unproven = await unprovenOrganisation(tx, userId);
  if (unproven === null) return provisionOrganisation(tx, now, { name, ownerId: userId });

  await renameOrganisation(tx, now, { id: unproven, name, email });
  await markProvisioned(tx, now, unproven);
  return unproven;
}
