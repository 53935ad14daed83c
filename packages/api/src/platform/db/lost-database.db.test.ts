import { expect, it } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { isDatabaseUnavailable } from '../errors.ts';
import { openDatabase } from './client.ts';

const nobody = '127.0.0.1:1,127.0.0.1:2,127.0.0.1:3';

it('reports the database as unavailable once every host was tried, at each attempt', async () => {
  const url = `postgres://gatehouse@${nobody}/gatehouse?target_session_attrs=primary`;
  const { sql, close } = openDatabase({ url, pool: 1, prepare: true });
  for (let attempt = 0; attempt < 3; attempt++) {
    const error = await sql`select 1`.catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  }
  await close();
});

it('survives a connection that is lost within a transaction, and runs no statement of it elsewhere', async () => {
  const database = await createTestDatabase();
  const { sql, close } = openDatabase({ url: database.url, pool: 1, prepare: true });
  await sql`create table marks (id int)`;
  let late: unknown;

  for (let attempt = 0; attempt < 3; attempt++) {
    const lost = sql.begin(async (tx) => {
      await tx`insert into marks values (1)`;
      await tx`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
      late = tx`insert into marks values (2)`.catch((thrown: unknown) => thrown);
      await late;
      await tx`insert into marks values (3)`;
    });
    const error = await lost.catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error), String(error)).toBe(true);
    expect(isDatabaseUnavailable(await late)).toBe(true);
    expect(await sql`select id from marks`).toEqual([]);
  }
  await close();
  await database.drop();
});
