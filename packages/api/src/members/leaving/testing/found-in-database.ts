import type { App } from '../../../app.ts';

/**
 * Searches every column of text or JSON, in all tables of all schemas, for a text in any case.
 * Returns the names of the columns that contain it.
 */
export async function foundInDatabase({ sql }: App, text: string): Promise<string[]> {
  const columns = await sql<{ schema: string; table: string; column: string }[]>`
    select c.table_schema as schema, c.table_name as table, c.column_name as column
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')
      and c.data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY', 'USER-DEFINED')`;
  const searches = columns.map(
    ({ schema, table, column }) => sql`
      select ${`${schema}.${table}.${column}`} as place where exists (
        select from ${sql(schema)}.${sql(table)} where position(lower(${text}) in lower(${sql(column)}::text)) > 0)`,
  );
  const found = await sql<{ place: string }[]>`
    ${searches.flatMap((search, at) => (at === 0 ? [search] : [sql` union all `, search]))}`;
  return found.map(({ place }) => place).sort();
}
