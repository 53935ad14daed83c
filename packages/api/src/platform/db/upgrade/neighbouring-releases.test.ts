import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readMigrations, readReleases } from './migration-files.ts';
import { problemsForOlderRelease, type Snapshot } from './older-release.ts';

const folder = fileURLToPath(new URL('../migrations', import.meta.url));
const releases = readReleases(folder);
const migrations = readMigrations(folder);

function snapshotOf(tag: string): Snapshot {
  return JSON.parse(fs.readFileSync(path.join(folder, 'meta', `${tag.slice(0, 4)}_snapshot.json`), 'utf8'));
}

it.each(releases)('the migrations of release $version were not edited', ({ last, sha256 }) => {
  const end = migrations.findIndex(({ tag }) => tag === last);
  const hashes = migrations.slice(0, end + 1).map(({ hash }) => hash);
  expect(createHash('sha256').update(hashes.join('')).digest('hex')).toBe(sha256);
});

it('a node of the last release can work with the tables of this one', () => {
  const last = releases.at(-1)?.last ?? '';
  expect(problemsForOlderRelease(snapshotOf(last), snapshotOf(migrations.at(-1)?.tag ?? last))).toEqual([]);
});

describe('a change that breaks an older release is found', () => {
  const column = (type: string, more: object = {}) => ({ name: 'x', type, primaryKey: false, notNull: false, ...more });
  const table = (columns: object, more: object = {}) => ({
    columns,
    indexes: {},
    uniqueConstraints: {},
    checkConstraints: {},
    compositePrimaryKeys: {},
    ...more,
  });
  const before = { tables: { 'public.users': table({ id: column('uuid', { notNull: true }), name: column('text') }) } };
  const after = (columns: object, more: object = {}) => ({ tables: { 'public.users': table(columns, more) } });
  const id = column('uuid', { notNull: true });
  const name = column('text');

  const changes: [name: string, changed: object, problem: string][] = [
    ['a table that is gone', { tables: {} }, 'public.users is gone'],
    ['a column that is gone', after({ id }), 'public.users.name is gone'],
    ['another type', after({ id, name: column('integer') }), 'public.users.name has another type'],
    [
      'a column that became required',
      after({ id, name: column('text', { notNull: true }) }),
      'public.users.name became required',
    ],
    [
      'a new column without a default',
      after({ id, name, age: column('int', { notNull: true }) }),
      'public.users.age has no default',
    ],
    [
      'a new unique index',
      after({ id, name }, { indexes: { one: { isUnique: true } } }),
      'public.users has a new rule: one',
    ],
    [
      'a new check',
      after({ id, name }, { checkConstraints: { two: { value: 'x' } } }),
      'public.users has a new rule: two',
    ],
  ];
  it.each(changes)('%s', (_name, changed, problem) => {
    expect(problemsForOlderRelease(before as Snapshot, changed as Snapshot)).toEqual([problem]);
  });

  it('a new table, a nullable column and a plain index are no problem', () => {
    const changed = after({ id, name, age: column('int') }, { indexes: { plain: { isUnique: false } } });
    const extended = { tables: { ...changed.tables, 'public.extra': table({ id }) } };
    expect(problemsForOlderRelease(before as Snapshot, extended as Snapshot)).toEqual([]);
  });
});
