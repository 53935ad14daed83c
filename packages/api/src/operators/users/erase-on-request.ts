import type { App } from '../../app.ts';
import { eraseUser } from '../../members/leaving/erase-user.ts';
import { AppError } from '../../platform/errors.ts';
import type { Actor } from '../actor.ts';

/**
 * Erases a user at their request, whatever the account status, as `eraseUser` does. Returns the slugs of the organisations that ended with the account.
 *
 * @throws AppError NOT_FOUND; VALIDATION if the user alone owns an organisation with other members,
 *   unless `withMembers`; BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE or BUSY if a subscription cannot
 *   be ended; BUSY if the organisations changed meanwhile.
 */
export async function eraseOnRequest(
  app: App,
  { userId, withMembers = false, keepKeys = false }: { userId: string; withMembers?: boolean; keepKeys?: boolean },
  { actorId, client }: Actor,
): Promise<{ slugs: string[] }> {
  const erased = await eraseUser(app, { userId }, { actorId, client, withMembers, keepKeys });
  if (erased === null) throw new AppError('NOT_FOUND', 'There is no such person.');
  return erased;
}
