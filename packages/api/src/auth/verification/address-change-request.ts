import { and, eq, gt, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { revokeKeysField } from '../../organisations/started.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { addressChanges, oneTimeTokens, verificationLinks } from '../../platform/db/schema/accounts.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { emailField } from '../../platform/security/address.ts';
import type { Client } from '../../platform/security/client.ts';
import { confirmation, confirmUser } from '../password/fresh-sign-in.ts';
import type { Approved } from '../principal.ts';
import { lockUser } from '../sessions/account.ts';
import { requireExistingSession } from '../sessions/session.ts';

export const requestAddressChangeInput = z.object({
  email: emailField,
  ...confirmation,
  revoke_keys: revokeKeysField,
});

/**
 * Enqueues a mail with a verification link to the user's new address. Nothing changes until
 * the link is opened in a session of the user; then their other sessions, links and invitations end, and with
 * `revoke_keys` the API keys that they made. The work is the same for every address and the job decides what to mail,
 * so that neither the answer nor the pending change reveals whether the new address has an account. A newer request
 * takes the place of an older one, whose links stay valid until one is used. The session is checked again under the lock
 * of the user: a new password that ended it meanwhile leaves no change of address pending.
 *
 * @throws AppError UNAUTHENTICATED if the password is wrong, or the session has ended; FRESH_SIGN_IN_REQUIRED; VALIDATION if the address is the
 *   user's own; TOO_MANY; BUSY if too many passwords are being hashed.
 */
export async function requestAddressChange(
  app: App,
  principal: Approved,
  input: z.output<typeof requestAddressChangeInput>,
  client: Client,
): Promise<void> {
  const { email, revoke_keys: revokesKeys = false } = input;
  await confirmUser(app, principal, input, client);
  if (email === principal.user.email) throw invalid({ email: message('address_unchanged') });

  await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    await requireExistingSession(tx, principal);
    await request(app, tx, principal, { email, revokesKeys }, client);
  });
  app.jobs.wake('verification-mail');
}

/**
 * Mails another link for the pending change of address, within the mail limits of every other one. The password is not
 * asked again: the address is the one that was confirmed with it.
 *
 * @throws AppError UNAUTHENTICATED if the session has ended; NOT_FOUND if no change of address is pending.
 */
export async function resendAddressChange(app: App, principal: Approved, client: Client): Promise<void> {
  await app.db.transaction(async (tx) => {
    await lockUser(tx, principal.user.id);
    await requireExistingSession(tx, principal);
    const pending = await pendingAddressChange(app, tx, principal.user.id);
    if (pending === null) throw noPendingChange();
    await request(app, tx, principal, pending, client);
  });
  app.jobs.wake('verification-mail');
}

/**
 * Ends the pending change of address: its links, and what their pages still offer. Their rows stay, because the mail
 * limits count them.
 *
 * @throws AppError NOT_FOUND if no change of address is pending.
 */
export async function cancelAddressChange(app: App, { user }: Approved): Promise<void> {
  const now = app.now();
  await app.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    const cancelled = await tx
      .delete(addressChanges)
      .where(and(eq(addressChanges.userId, user.id), gt(addressChanges.expiresAt, now)))
      .returning({ email: addressChanges.email });
    if (cancelled.length === 0) throw noPendingChange();

    const links = and(eq(verificationLinks.userId, user.id), eq(verificationLinks.purpose, 'change-address'));
    const at = sql`${now.toISOString()}::timestamptz`;
    await tx
      .update(verificationLinks)
      .set({
        usedAt: sql`coalesce(${verificationLinks.usedAt}, ${at})`,
        expiresAt: sql`least(${verificationLinks.expiresAt}, ${at})`,
      })
      .where(links);
    const tokens = and(eq(oneTimeTokens.userId, user.id), eq(oneTimeTokens.purpose, 'change-address'));
    await tx.delete(oneTimeTokens).where(tokens);
  });
}

/** Returns the change of address that a user has requested, until a link for it would have expired; null if there is none. */
export async function pendingAddressChange({ now }: Pick<App, 'now'>, db: Executor, userId: string) {
  const [pending] = await db
    .select()
    .from(addressChanges)
    .where(and(eq(addressChanges.userId, userId), gt(addressChanges.expiresAt, now())));
  return pending ?? null;
}

/** Whether a user's latest request is for an address, and was not cancelled. A late mail comes after the page's time. */
export async function isRequested(db: Executor, { userId, email }: { userId: string; email: string }) {
  const requested = and(eq(addressChanges.userId, userId), eq(addressChanges.email, email));
  return (await db.$count(addressChanges, requested)) > 0;
}

async function request(
  app: App,
  tx: Transaction,
  { sessionId, user: { id: userId } }: Approved,
  { email, revokesKeys }: { email: string; revokesKeys: boolean },
  { language }: Client,
): Promise<void> {
  const expiresAt = new Date(app.now().getTime() + app.config.verificationTtlSeconds * 1000);
  const pending = { email, revokesKeys, expiresAt };
  await tx
    .insert(addressChanges)
    .values({ userId, ...pending })
    .onConflictDoUpdate({ target: addressChanges.userId, set: pending });
  await app.jobs.send(tx, 'verification-mail', { email, userId, sessionId, revokesKeys, language });
}

function noPendingChange(): AppError {
  return new AppError('NOT_FOUND', message('no_pending_address_change'));
}
