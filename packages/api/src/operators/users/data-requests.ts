import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { eraseUser } from '../../members/leaving/erase-user.ts';
import { exportUser } from '../../members/leaving/export.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Actor } from '../actor.ts';

/**
 * Erases a user at their request, whatever the account status, as `eraseUser` does. Returns the slugs of the organisations
 * that ended with the account.
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
  if (erased === null) throw new AppError('NOT_FOUND', message('no_such_person'));
  return erased;
}

/**
 * Returns everything that is stored about a user, at their request, whatever the account status. The
 * audit log records the actor.
 *
 * @throws AppError NOT_FOUND.
 */
export async function exportOnRequest(app: App, { userId }: { userId: string }, actor: Actor) {
  const data = await exportUser(app, userId);
  if (data === null) throw new AppError('NOT_FOUND', message('no_such_person'));
  await recordAudit(app.db, app.now(), { action: 'data-exported', ...actor, userId });
  return data;
}
