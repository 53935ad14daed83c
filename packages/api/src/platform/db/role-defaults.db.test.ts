import { expect, it } from 'vitest';
import { createTestDatabase, migrationsFolder } from '../../testing/database/database.ts';
import { openDatabase } from './client.ts';
import { migrate } from './migrate.ts';

it('a start sets the defaults of the role in its database, and keeps those that the operator has set', async () => {
  const database = await createTestDatabase();
  const open = () => openDatabase({ url: database.url, pool: 1, prepare: true });
  const starting = open();
  const [{ name } = {}] = await starting.sql`select current_database() as name`;
  await starting.sql.unsafe(`alter role current_user in database ${name} set tcp_keepalives_idle = '7s'`);
  await migrate(starting.sql, { folder: migrationsFolder, version: '0.0.0' });
  await starting.close();

  const later = open();
  const values = await later.sql`
    select setting from pg_settings
    where name in ('idle_in_transaction_session_timeout', 'client_connection_check_interval') order by name`;
  expect(values.map(({ setting }) => setting)).toEqual(['5000', '60000']);
  const [own] = await later.sql`
    select setconfig from pg_db_role_setting
    where setdatabase = (select oid from pg_database where datname = current_database())`;
  expect(own?.setconfig).toContain('tcp_keepalives_idle=7s');
  expect(own?.setconfig).toContain('tcp_keepalives_count=3');
  await later.close();
  await database.drop();
});
