import type { Sql } from 'postgres';
import { describeError, type Log } from '../log.ts';

/** These settings belong to the role, because a pooler refuses them as parameters of a connection. */
const settings = {
  // Use cases lock rows and read them again: a transaction that reads one snapshot would fail instead.
  default_transaction_isolation: 'read committed',
  // With these the server ends the session of a client that disappeared. It would otherwise hold its locks for hours.
  idle_in_transaction_session_timeout: '60s',
  client_connection_check_interval: '5s',
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '5s',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '20s',
};

/**
 * Sets these defaults for the role that the service signs in as, in its database, where the operator has set none of
 * their own. The role's own settings may give it the rights of another one by `set role`, and a role's
 * settings apply to those who sign in as it.
 */
export async function setRoleDefaults(sql: Sql, log: Log): Promise<void> {
  const { database, missing } = await readMissingSettings(sql);
  for (const [name, value] of missing) {
    try {
      await sql.begin(async (tx) => {
        await tx`set local role none`;
        await tx.unsafe(`alter role current_user in database ${sqlName(database)} set ${name} = '${value}'`);
      });
    } catch (error) {
      // Not every platform supports each setting, and not every role may change its own.
      log.debug('A default of the role could not be set.', { name, error: describeError(error) });
    }
  }
}

/** Whether each setting has a value, from the service or from the operator. */
export async function hasRoleDefaults(sql: Sql): Promise<boolean> {
  return (await readMissingSettings(sql)).missing.length === 0;
}

async function readMissingSettings(sql: Sql): Promise<{ database: string; missing: [name: string, value: string][] }> {
  const [own] = await sql`
    select current_database() as database, coalesce(array_agg(split_part(item, '=', 1)), '{}') as names
    from pg_db_role_setting, unnest(setconfig) as item
    where setrole in (0, session_user::regrole) and setdatabase in (0, (select oid from pg_database where datname = current_database()))`;
  const present = new Set<string>(own?.names);
  return { database: own?.database, missing: Object.entries(settings).filter(([name]) => !present.has(name)) };
}

function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
