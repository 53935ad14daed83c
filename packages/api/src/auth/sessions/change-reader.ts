import { and, eq, gt, isNull, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { ChangeReader } from '../../changes/cursor.ts';
import { isValidKey } from '../../organisations/started.ts';
import { prepared } from '../../platform/db/client.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { apiKeys } from '../../platform/db/schema/keys.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { sessions } from '../../platform/db/schema/sessions.ts';
import { hasFactor } from '../factors/has-factor.ts';
import type { Holding, Principal } from '../principal.ts';

/** Returns the id by which a principal's waiting requests are counted: that of the key or the user. */
export function callerIdOf(principal: Principal): string {
  return principal.kind === 'key' ? principal.key.id : principal.user.id;
}

/**
 * Returns whose changes a principal may read: a key of the deployment those of every organisation, any
 * other principal those of its own.
 *
 * @throws AppError NO_ORGANISATION.
 */
export function changeReaderOf(principal: Principal & Holding<'READ'>): ChangeReader {
  if (principal.kind === 'key' && principal.organisation === null) return { reads: 'deployment' };
  return { reads: 'organisation', organisationId: principal.requireOrganisation().id };
}

/**
 * Whether a principal may still read the changes that it could read when its request began: its key or session is
 * valid, and so are its organisation and its membership. For a request that has waited since.
 */
export async function mayStillRead(app: App, principal: Principal & Holding<'READ'>): Promise<boolean> {
  const { organisationId } = principal;
  const now = app.now().toISOString();
  const found =
    principal.kind === 'key'
      ? await validKey(app.db).execute({ id: principal.key.id, now })
      : await validSession(app.db).execute({ id: principal.sessionId, organisationId, now });
  return found.length > 0;
}

const isOpen = and(eq(organisations.approval, 'approved'), isNull(organisations.suspendedAt));

const validKey = prepared((db) =>
  db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .leftJoin(organisations, eq(organisations.id, apiKeys.organisationId))
    .where(
      and(
        eq(apiKeys.id, sql.placeholder('id')),
        isValidKey(sql.placeholder('now')),
        or(isNull(apiKeys.organisationId), isOpen),
      ),
    )
    .prepare('key_that_waited'),
);

/** What an organisation's rule asks of a session, as `missingFactor` does: it may have begun meanwhile. */
const hasGivenFactor = or(
  isNull(organisations.secondFactorFrom),
  gt(organisations.secondFactorFrom, sql.placeholder('now')),
  and(hasFactor, eq(sessions.identityFactor, false)),
);

const validSession = prepared((db) =>
  db
    .select({ id: sessions.id })
    .from(sessions)
    .innerJoin(users, and(eq(users.id, sessions.userId), isNull(users.suspendedAt)))
    .innerJoin(
      memberships,
      and(eq(memberships.userId, sessions.userId), eq(memberships.organisationId, sql.placeholder('organisationId'))),
    )
    .innerJoin(organisations, and(eq(organisations.id, memberships.organisationId), isOpen, hasGivenFactor))
    .where(and(eq(sessions.id, sql.placeholder('id')), gt(sessions.expiresAt, sql.placeholder('now'))))
    .prepare('session_that_waited'),
);
