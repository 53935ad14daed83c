import { type SQL, sql } from 'drizzle-orm';
import type { auditValues } from '../../audit/record.ts';
import { type Database, preparedSql } from '../../platform/db/client.ts';
import { maxBrowsersPerUser } from './known-browser.ts';

/** The maximum number of sessions of a user. */
export const maxSessions = 50;

type Values = {
  idHash: string;
  sessionId: string;
  userId: string;
  organisationId: string;
  passwordHash: string;
  expiresAt: Date;
  now: Date;
  browserHash: string | null;
  entry: ReturnType<typeof auditValues>;
};

/**
 * Inserts a session that a password opened, its audit entry and its browser by one statement, which commits alone.
 * Returns false and changes nothing unless the user still has the password, is verified and not suspended, the
 * organisation is approved and not suspended, and no session and no browser has to end for it. The caller then decides
 * under a lock.
 *
 * It locks the user before the organisation. PostgreSQL checks the conditions again on a row whose lock it waited for.
 * Other tables are read from the statement's snapshot, which may be older. So the volatile function
 * `has_room_for_session`, whose queries have newer snapshots, counts after the lock.
 */
export async function insertInOneStatement(
  db: Database,
  { entry, expiresAt, now, ...values }: Values,
): Promise<boolean> {
  const inserted = await insertion(db).execute({
    ...values,
    ...entry,
    at: entry.at.toISOString(),
    details: JSON.stringify(entry.details),
    expiresAt: expiresAt.toISOString(),
    now: now.toISOString(),
    maxSessions,
    maxBrowsersPerUser,
  });
  return inserted.length > 0;
}

function value(name: string, type = 'text'): SQL {
  return sql`${sql.placeholder(name)}::${sql.raw(type)}`;
}

/** The function is called for a row of `locked_user`, so after its lock. A sub-select locks the organisation later. */
const insertion = preparedSql(
  'session_at_once',
  sql`
  with locked_user as (
    select id from users
    where id = ${value('userId', 'uuid')} and password_hash = ${value('passwordHash')}
      and email_verified_at is not null and suspended_at is null
    for no key update
  ), locked_organisation as (
    select id from organisations
    where id = ${value('organisationId', 'uuid')} and approval = 'approved' and suspended_at is null
    for share
  ), allowed as (
    select id as user_id, (select id from locked_organisation) as organisation_id
    from locked_user
    where has_room_for_session(id, ${value('now', 'timestamptz')}, ${value('browserHash')},
      ${value('maxSessions', 'integer')}, ${value('maxBrowsersPerUser', 'integer')})
  ), new_session as (
    insert into sessions (id_hash, id, user_id, organisation_id, created_at, expires_at, user_agent, client)
    select ${value('idHash')}, ${value('sessionId', 'uuid')}, user_id, organisation_id, ${value('now', 'timestamptz')},
      ${value('expiresAt', 'timestamptz')}, ${value('userAgent')}, ${value('client')}
    from allowed where organisation_id is not null
    returning user_id, organisation_id
  ), browser as (
    insert into known_browsers (token_hash, user_id, signed_in_at)
    select ${value('browserHash')}, user_id, ${value('now', 'timestamptz')}
    from new_session where ${value('browserHash')} is not null
    on conflict (token_hash, user_id) do update set signed_in_at = excluded.signed_in_at
  )
  insert into audit_events (id, at, action, actor_id, user_id, organisation_id, client, user_agent, details)
  select ${value('auditId', 'uuid')}, ${value('at', 'timestamptz')}, ${value('action')}, ${value('actorId', 'uuid')}, user_id,
    organisation_id, ${value('client')}, ${value('userAgent')}, ${value('details', 'jsonb')}
  from new_session
  returning id`,
);
