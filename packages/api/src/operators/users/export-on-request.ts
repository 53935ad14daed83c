import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { exportUser } from '../../members/leaving/export.ts';
import { AppError } from '../../platform/errors.ts';
import type { Actor } from '../actor.ts';

/**
 * Returns everything that is stored about a user, at their request, whatever the account status. The
 * audit log records the actor.
 *
 * @throws AppError NOT_FOUND.
 */
export async function exportOnRequest(app: App, { userId }: { userId: string }, actor: Actor) {
  const data = await exportUser(app, userId);
  if (data === null) throw new AppError('NOT_FOUND', 'There is no such person.');
  await recordAudit(app.db, app.now(), { action: 'data-exported', ...actor, userId });
  return data;
}
