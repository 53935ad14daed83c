import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Release } from '../../platform/db/upgrade/migration-files.ts';
import { migrationsFolder } from './database.ts';

type Entry = { idx: number; version: string; when: number; tag: string; breakpoints: boolean };

/** A copy of the migrations that a test may shorten and extend. */
export type MigrationsFolder = {
  folder: string;
  /** Adds or replaces a migration, whose statements are separated as drizzle separates them. */
  add: (tag: string, ...statements: string[]) => void;
  /** Declares a release that ends with the newest migration, unless one does. */
  release: (version: string) => void;
  remove: () => void;
};

/** The number of migrations added in this process, because two tests may add theirs to one database. */
let added = 0;

/** Copies the first `count` migrations, or all. */
export function copyMigrations(count = Number.POSITIVE_INFINITY): MigrationsFolder {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-migrations-'));
  fs.cpSync(migrationsFolder, folder, { recursive: true, filter: (file) => !file.endsWith('_snapshot.json') });
  const journalFile = path.join(folder, 'meta', '_journal.json');
  const releasesFile = path.join(folder, 'meta', '_releases.json');
  const journal = JSON.parse(fs.readFileSync(journalFile, 'utf8')) as { entries: Entry[] };
  const entries = journal.entries.slice(0, count);
  save();

  function save() {
    fs.writeFileSync(journalFile, JSON.stringify({ ...journal, entries }));
  }

  return {
    folder,
    add(tag, ...statements) {
      fs.writeFileSync(path.join(folder, `${tag}.sql`), statements.join('--> statement-breakpoint\n'));
      if (entries.some((entry) => entry.tag === tag)) return;

      added += 1;
      entries.push({ idx: entries.length, version: '7', when: 4_000_000_000_000 + added, tag, breakpoints: true });
      save();
    },
    release(version) {
      const releases = JSON.parse(fs.readFileSync(releasesFile, 'utf8')) as Release[];
      if (releases.at(-1)?.last === entries.at(-1)?.tag) return;

      fs.writeFileSync(releasesFile, JSON.stringify([...releases, { version, last: entries.at(-1)?.tag }]));
    },
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}
