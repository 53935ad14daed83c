import type { ISql, Sql } from 'postgres';

/** Counts the rows of every table outside the system schemas, partitions included. */
export async function countRows(sql: Sql | ISql): Promise<Map<string, number>> {
  const tables = await sql`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by name`;
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const [row] = await sql.unsafe(`select count(*)::int as count from ${name}`);
    counts.set(name, row?.count);
  }
  return counts;
}

/** Returns the tables that do not have the same number of rows in both, with both numbers. */
export function differences(one: Map<string, number>, other: Map<string, number>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => `${name} (${one.get(name) ?? 'none'}, ${other.get(name) ?? 'none'})`);
}
