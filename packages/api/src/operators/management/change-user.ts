import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { newPasswordLinkToken, passwordLinkMinutes } from '../../auth/password/one-time-token.ts';
import type { ManagingKey } from '../../auth/principal.ts';
import { accountById } from '../../auth/sessions/account.ts';
import { hasRunningSubscription } from '../../billing/actions/end-subscriptions.ts';
import { eraseUser, solelyOwned } from '../../members/leaving/erase-user.ts';
import type { Executor, Transaction } from '../../platform/db/client.ts';
import { minuteMilliseconds } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { passwordLink } from '../../platform/links.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { closeUser, endSessionsOf, reopenUser } from '../users/suspend-user.ts';
import { byKey, conflict, type KeyActor, lockKey, lockManaged, requireNoOperator } from './authority.ts';
import { idOf, type ManagedUser, readUser, userIdInput } from './read-users.ts';

export const endUserInput = userIdInput.extend({ keep_keys: z.boolean('This must be true or false.').default(false) });

type OneUser = z.output<typeof userIdInput>;
type EndedUser = z.output<typeof endUserInput>;

/**
 * Suspends a user, as an operator does in the console. A suspended one stays so.
 *
 * @throws AppError NOT_FOUND; FORBIDDEN for an operator.
 */
export function suspendManagedUser(app: App, key: ManagingKey, { user_id, keep_keys }: EndedUser, client: Client) {
  return change(app, key, user_id, client, async (tx, userId, actor) => {
    await closeUser(app, tx, { userId, keepKeys: keep_keys }, actor);
  });
}

/** Ends a user's suspension. One who is not suspended stays so. @throws AppError as `suspendManagedUser`. */
export function restoreManagedUser(app: App, key: ManagingKey, { user_id }: OneUser, client: Client) {
  return change(app, key, user_id, client, async (tx, userId, actor) => {
    await reopenUser(app, tx, { userId }, actor);
  });
}

/** Signs a user out everywhere. @throws AppError as `suspendManagedUser`. */
export function endManagedSessions(app: App, key: ManagingKey, { user_id }: OneUser, client: Client) {
  return change(app, key, user_id, client, async (tx, userId, actor) => {
    await endSessionsOf(app, tx, { userId }, actor);
  });
}

function change(
  app: App,
  key: ManagingKey,
  named: string,
  client: Client,
  act: (tx: Transaction, userId: string, actor: KeyActor) => Promise<void>,
): Promise<ManagedUser> {
  const userId = idOf(named);
  return app.db.transaction(async (tx) => {
    await lockManaged(tx, userId);
    await act(tx, userId, byKey(key, client));
    return readUser(tx, userId);
  });
}

/**
 * Creates a link that sets a user's password, once, within 60 minutes; the company's product hands it over. It ends with
 * the key.
 *
 * @throws AppError FORBIDDEN for a key that may not make such links, and for an operator; NOT_FOUND; CONFLICT for an
 *   unverified or closed account; INTERNAL without a canonical base URL.
 */
export async function createManagedLink(app: App, key: ManagingKey, { user_id }: OneUser, client: Client) {
  if (!key.key.passwordLinks) throw new AppError('FORBIDDEN', 'This API key may not make password links.');
  const userId = idOf(user_id);
  return app.db.transaction(async (tx) => {
    await lockManaged(tx, userId);
    const account = await accountById(tx, userId);
    if (account?.accountStatus === 'unverified') throw conflict('The address of this user is not verified.');
    if (account?.accountStatus === 'closed') throw conflict('The account of this user is closed.');

    await lockKey(tx, key);
    const token = await newPasswordLinkToken(app, tx, userId, key.key.id);
    await recordAudit(tx, app.now(), { action: 'password-link-made', ...byKey(key, client), userId });
    const expiresAt = new Date(app.now().getTime() + passwordLinkMinutes * minuteMilliseconds);
    return { url: passwordLink(app.config, token), expires_at: expiresAt.toISOString() };
  });
}

/**
 * Deletes a user with all that is stored about them, and the organisations that they own alone.
 *
 * @throws AppError NOT_FOUND; FORBIDDEN for an operator; CONFLICT if such an organisation has other members or a
 *   subscription that lives; BUSY if the organisations changed meanwhile.
 */
export async function deleteManagedUser(
  app: App,
  key: ManagingKey,
  { user_id, keep_keys }: EndedUser,
  client: Client,
): Promise<{ ok: true }> {
  const userId = idOf(user_id);
  await readUser(app.db, userId);
  const isStillWanted = async (db: Executor) => {
    await requireNoOperator(db, userId);
    await requireDeletable(db, userId);
    return true;
  };
  const options = { withMembers: true, keepKeys: keep_keys, isStillWanted };
  const erased = await eraseUser(app, { userId }, { ...byKey(key, client), ...options });
  if (erased === null) throw new AppError('NOT_FOUND', message('no_such_person'));
  return { ok: true };
}

async function requireDeletable(db: Executor, userId: string): Promise<void> {
  for (const { id, slug, others } of await solelyOwned(db, userId)) {
    if (others > 0) throw conflict(`This user is the only owner of ${slug}, which has other members.`);
    if (await hasRunningSubscription(db, id))
      throw conflict(`This user is the only owner of ${slug}, which has a subscription.`);
  }
}
