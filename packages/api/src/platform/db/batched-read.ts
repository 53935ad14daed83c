import { DrizzleQueryError, type SQL, sql } from 'drizzle-orm';
import * as drizzleUtils from 'drizzle-orm/utils';
import type { Sql } from 'postgres';
import { clientOf, type Executor, prepared } from './client.ts';

/**
 * How many reads one statement answers. Further reads of the same turn use another connection, so that PostgreSQL
 * serves them on a second processor.
 */
const most = 8;

type Key<Name extends string> = Record<Name, string>;
type Waiting<Name extends string> = {
  key: Key<Name>;
  resolve: (rows: never[]) => void;
  reject: (error: unknown) => void;
};
type Batch<Name extends string> = { waiting: Waiting<Name>[] };

type RowOf<Statement> = Statement extends { execute: () => Promise<(infer Row)[]> } ? Row : never;
type Lone<Name extends string> = { execute: (key: Key<Name>) => Promise<never[]> };
type BatchedRead<Name extends string, Row> = { execute: (key: Key<Name>) => Promise<Row[]> };

/**
 * Creates a prepared statement that returns the rows of a key, which consists of the named values. Reads that begin in
 * one turn of the event loop share one statement: most of what a read by primary keys costs, here and in the database, is
 * its message and its answer. It is sent after all of them have begun, so each read sees what was committed before it
 * began. `build` gets the expressions of the key's values, which are texts. A failure rejects each of them.
 *
 * Speed (design, "The serving process"): 24 % of GET /api/session.
 */
export function batchedRead<Name extends string, Statement extends object>(
  names: Name[],
  build: (db: Executor, key: Record<Name, SQL>) => Statement,
): (db: Executor) => BatchedRead<Name, RowOf<Statement>> {
  const expressions = (of: (name: Name) => SQL) =>
    Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, SQL>;
  // A lone read costs the database a fifth less without the unused keys.
  const one = prepared((db) =>
    build(
      db,
      expressions((name) => sql`${sql.placeholder(name)}`),
    ),
  ) as unknown as (db: Executor) => Lone<Name>;
  let run: ReturnType<typeof runnerOf<Name>> | undefined;
  const batches = new WeakMap<Sql, Batch<Name>>();

  function batchOf(client: Sql): Batch<Name> {
    const batch = batches.get(client) ?? { waiting: [] };
    batches.set(client, batch);
    return batch;
  }

  function send(db: Executor, batch: Batch<Name>) {
    const { waiting } = batch;
    const [first] = waiting;
    if (first === undefined) return;
    batch.waiting = [];
    if (waiting.length === 1) {
      one(db).execute(first.key).then(first.resolve, first.reject);
      return;
    }
    const keys = waiting.map(({ key }) => key);
    run?.(clientOf(db), keys).then(
      (found) => waiting.forEach(({ resolve }, at) => void resolve((found[at] ?? []) as never[])),
      (error) => waiting.forEach(({ reject }) => void reject(error)),
    );
  }

  return (db) => {
    run ??= runnerOf(
      names,
      build(
        db,
        expressions((name) => sql`asked.${sql.identifier(name)}`),
      ) as unknown as BuiltStatement,
    );
    return {
      execute: (key) =>
        new Promise((resolve, reject) => {
          const batch = batchOf(clientOf(db));
          batch.waiting.push({ key, resolve, reject });
          if (batch.waiting.length === most) send(db, batch);
          else if (batch.waiting.length === 1) setImmediate(send, db, batch);
        }),
    };
  };
}

/** Drizzle's own conversion of a row, which its types do not declare. */
const { mapResultRow } = drizzleUtils as unknown as {
  mapResultRow: (fields: object[], row: unknown[], joinsNotNullableMap?: Record<string, boolean>) => unknown;
};

/** The statement that drizzle has built. Drizzle's types do not declare these fields. */
type BuiltStatement = {
  queryString: string;
  params: unknown[];
  fields?: object[];
  joinsNotNullableMap?: Record<string, boolean>;
};

/** The number of keys is fixed, because PostgreSQL plans a list of any length again for each length. */
function runnerOf<Name extends string>(
  names: Name[],
  { queryString, params, fields = [], joinsNotNullableMap }: BuiltStatement,
) {
  let parameter = params.length;
  const slots = Array.from(
    { length: most },
    (_, at) => `(${names.map(() => `$${++parameter}::text`).join(', ')}, ${at})`,
  );
  const columns = names.map((name) => `"${name}"`).join(', ');
  const text = `select found.*, asked.at from (values ${slots.join(', ')}) as asked (${columns}, at)
    cross join lateral (${queryString}) as found where asked."${names[0]}" is not null`;

  return async (client: Sql, keys: Key<Name>[]): Promise<unknown[][]> => {
    const asked = Array.from({ length: most }, (_, at) => names.map((name) => keys[at]?.[name] ?? null)).flat();
    const parameters = [...params, ...asked] as never[];
    const found: unknown[][] = keys.map(() => []);
    try {
      for (const row of await client.unsafe(text, parameters, { prepare: true }).values()) {
        found[row[fields.length] as number]?.push(mapResultRow(fields, row, joinsNotNullableMap));
      }
    } catch (error) {
      throw new DrizzleQueryError(text, parameters, error as Error);
    }
    return found;
  };
}
