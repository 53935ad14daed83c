type Column = { type: string; notNull: boolean; default?: unknown; generated?: unknown; identity?: unknown };
type ByName<Thing> = Record<string, Thing>;
type Table = {
  columns: ByName<Column>;
  indexes: ByName<{ isUnique: boolean }>;
  uniqueConstraints: ByName<object>;
  checkConstraints: ByName<object>;
  compositePrimaryKeys: ByName<object>;
};

/** What drizzle-kit writes beside each migration: the tables after it. */
export type Snapshot = { tables: ByName<Table> };

/**
 * Returns why a node whose tables are `before` cannot work with the tables `after`: something that
 * it reads or writes is gone, or a rule refuses what it writes. Empty if it can.
 */
export function problemsForOlderRelease(before: Snapshot, after: Snapshot): string[] {
  return Object.entries(before.tables).flatMap(([name, old]) => {
    const table = after.tables[name];
    return table === undefined
      ? [`${name} is gone`]
      : [...columnProblems(name, old, table), ...newRules(name, old, table)];
  });
}

function columnProblems(tableName: string, old: Table, table: Table): string[] {
  const known = Object.entries(old.columns).flatMap(([name, { type, notNull }]) => {
    const column = table.columns[name];
    if (column === undefined) return [`${tableName}.${name} is gone`];
    if (column.type !== type) return [`${tableName}.${name} has another type`];
    return column.notNull && !notNull ? [`${tableName}.${name} became required`] : [];
  });
  const added = Object.entries(table.columns).flatMap(([name, column]) =>
    Object.hasOwn(old.columns, name) || !column.notNull || hasValue(column)
      ? []
      : [`${tableName}.${name} has no default`],
  );
  return [...known, ...added];
}

function hasValue(column: Column): boolean {
  return column.default !== undefined || column.generated !== undefined || column.identity !== undefined;
}

/** Rules that the older node does not know, and which its rows may break. */
function newRules(tableName: string, old: Table, table: Table): string[] {
  const before = rulesOf(old);
  return [...rulesOf(table)]
    .filter(([name, rule]) => before.get(name) !== rule)
    .map(([name]) => `${tableName} has a new rule: ${name}`);
}

function rulesOf({ indexes, uniqueConstraints, checkConstraints, compositePrimaryKeys }: Table): Map<string, string> {
  const unique = Object.entries(indexes).filter(([, { isUnique }]) => isUnique);
  const rules = [uniqueConstraints, checkConstraints, compositePrimaryKeys].flatMap((each) => Object.entries(each));
  return new Map([...unique, ...rules].map(([name, rule]) => [name, JSON.stringify(rule)]));
}
