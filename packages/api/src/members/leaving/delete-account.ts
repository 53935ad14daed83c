import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { confirmation, confirmUser } from '../../auth/password/fresh-sign-in.ts';
import type { UserPrincipal } from '../../auth/principal.ts';
import { readPlan } from '../../organisations/plan.ts';
import { readStarted, revokeKeysField } from '../../organisations/started.ts';
import type { Executor } from '../../platform/db/client.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { eraseUser, organisationsEndingWith, solelyOwned } from './erase-user.ts';

export const deleteAccountInput = z.object({
  ...confirmation,
  /** The organisations whose deletion the page announced. If they are given, no other one is deleted. */
  organisation_ids: z.array(z.string(), zodMessage('not_organisations')).optional(),
  revoke_keys: revokeKeysField,
});

/**
 * Returns what deleting the account would also delete. Allowed while the account awaits approval.
 */
export async function readDeletion(app: App, principal: UserPrincipal) {
  const { user } = principal;
  const owned = await solelyOwned(app.db, user.id);

  const ends = await Promise.all(
    owned.map(async ({ id, name, slug, others }) => {
      const { tier, plan } = await readPlan(app, id);
      return { organisation: { id, name, slug }, tier, tier_name: plan.name, has_members: others > 0 };
    }),
  );
  const started = await readStarted(app.db, app.now(), { userId: user.id, of: 'everything' });
  return { ends, started, blocked: ends.some((end) => end.has_members) };
}

/**
 * Deletes a user's account, as `eraseUser` does. The API keys that they made stay, unless they say otherwise. Allowed while the account awaits approval.
 *
 * @throws AppError UNAUTHENTICATED or FRESH_SIGN_IN_REQUIRED if the user is not confirmed; TOO_MANY; VALIDATION
 *   if an organisation that only this user owns has other members; NOT_FOUND if an organisation
 *   would be deleted that the page did not show; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY
 *   if a subscription cannot be ended; BUSY if the organisations changed meanwhile, or if too
 *   many passwords are being hashed.
 */
export async function deleteAccount(
  app: App,
  principal: UserPrincipal,
  { organisation_ids: shown, revoke_keys: revokesKeys = false, ...confirming }: z.output<typeof deleteAccountInput>,
  client: Client,
): Promise<void> {
  const { id: userId } = principal.user;
  await organisationsEndingWith(app.db, userId, { withMembers: true, shown });
  await confirmUser(app, principal, confirming, client);

  const isStillWanted = async (db: Executor) => {
    const isOwn = and(eq(sessions.id, principal.sessionId), eq(sessions.userId, userId));
    if ((await db.$count(sessions, isOwn)) === 0) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
    return true;
  };
  const options = { actorId: userId, client, keepKeys: !revokesKeys, shown, isStillWanted };
  const erased = await eraseUser(app, { userId }, options);
  if (erased === null) throw new AppError('UNAUTHENTICATED', message('sign_in_first'));
}
