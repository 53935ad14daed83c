import { expect, it } from 'vitest';
import { createTestDatabase } from '../../testing/database/database.ts';
import { openDatabase } from './client.ts';

it('every foreign key has an index, so that deleting the row it names reads no whole table', async () => {
  const database = await createTestDatabase();
  const { sql, close } = openDatabase({ url: database.url, pool: 1, prepare: false });
  // The columns of the key stand first in the index, in any order. A partial index serves if it only leaves out nulls.
  const without = await sql<{ key: string }[]>`
    select conrelid::regclass || '.' || conname as key
    from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and not exists (
      select from pg_index
      where indrelid = conrelid and indisvalid
        and (indkey::int2[])[0:cardinality(conkey) - 1] @> conkey
        and (indpred is null or pg_get_expr(indpred, indrelid) in (
          select format('(%I IS NOT NULL)', attname) from pg_attribute where attrelid = conrelid and attnum = any(conkey))))
    order by key`;
  await close();
  await database.drop();
  expect(without.map(({ key }) => key)).toEqual([]);
});
