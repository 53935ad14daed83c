import { and, count, desc, eq, gt, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { readStarted } from '../../organisations/started.ts';
import { identities, users } from '../../platform/db/schema/accounts.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { AppError } from '../../platform/errors.ts';
import { entriesAboutUser } from '../read-entries.ts';
import { readMemberships, shownUser } from './find-users.ts';

export const userInput = z.object({ user_id: z.uuid('There is no such person.') });

/**
 * Returns the facts about a user, their organisations and the newest audit entries about them.
 *
 * @throws AppError NOT_FOUND if there is no such user.
 */
export async function readUserPage(app: App, principal: Operator, { user_id: id }: z.output<typeof userInput>) {
  const { user: operator } = principal;
  const [user] = await app.db.select().from(users).where(eq(users.id, id));
  if (user === undefined) throw new AppError('NOT_FOUND', 'There is no such person.');

  const [joined, identity, live, entries] = await Promise.all([
    readMemberships(app, [id]),
    app.db
      .select({ linkedAt: identities.linkedAt })
      .from(identities)
      .where(and(eq(identities.userId, id), isNull(identities.unlinkedAt)))
      .orderBy(desc(identities.linkedAt))
      .limit(1),
    app.db
      .select({ rows: count() })
      .from(sessions)
      .where(and(eq(sessions.userId, id), gt(sessions.expiresAt, app.now()))),
    entriesAboutUser(app.db, id),
  ]);
  return {
    ...shownUser(user, joined.get(id) ?? []),
    self: operator.id === id,
    email_verified_at: user.emailVerifiedAt?.toISOString() ?? null,
    suspended_at: user.suspendedAt?.toISOString() ?? null,
    has_password: user.passwordHash !== null,
    identity_linked_at: identity[0]?.linkedAt.toISOString() ?? null,
    sessions: live[0]?.rows ?? 0,
    /** What ends with a suspension, the API keys unless they are kept. */
    started: await readStarted(app.db, app.now(), { userId: id, of: 'everything' }),
    entries,
  };
}
