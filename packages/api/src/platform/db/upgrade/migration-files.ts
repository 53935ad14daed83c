import fs from 'node:fs';
import path from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';

/** A migration of a build. */
export type Migration = {
  tag: string;
  /** Identifies the migration in the database: milliseconds since the epoch. */
  createdAt: number;
  hash: string;
  statements: string[];
  /** The number of the release that brought it: 1 is the first release. */
  release: number;
};

/** A release whose migrations are never edited again: `sha256` is that of all migrations up to `last`. */
export type Release = { version: string; last: string; sha256: string };

/** Reads which migrations a build has, oldest first, without their texts. */
export function readJournal(folder: string): { tag: string; createdAt: number }[] {
  const { entries } = readMeta<{ entries: { tag: string; when: number }[] }>(folder, '_journal.json');
  return entries.map(({ tag, when }) => ({ tag, createdAt: when }));
}

/** Reads the migrations of a build, oldest first. Those after the last release belong to the next one. */
export function readMigrations(folder: string): Migration[] {
  const tags = readJournal(folder).map(({ tag }) => tag);
  const releaseEnds = readReleases(folder).map(({ last }) => tags.indexOf(last));

  return readMigrationFiles({ migrationsFolder: folder }).map((file, at) => ({
    tag: tags[at] ?? '',
    createdAt: file.folderMillis,
    hash: file.hash,
    statements: file.sql,
    release: releaseEnds.filter((end) => end !== -1 && end < at).length + 1,
  }));
}

/** Returns the number of the release that a build belongs to: the next one, if it has migrations after the last. */
export function readOwnRelease(folder: string): number {
  const releases = readReleases(folder);
  const isReleased = releases.at(-1)?.last === readJournal(folder).at(-1)?.tag;
  return releases.length + (isReleased ? 0 : 1);
}

/** Reads the releases of a folder, the oldest first. @throws Error if the file is missing or is not JSON. */
export function readReleases(folder: string): Release[] {
  return readMeta<Release[]>(folder, '_releases.json');
}

function readMeta<Content>(folder: string, name: string): Content {
  return JSON.parse(fs.readFileSync(path.join(folder, 'meta', name), 'utf8'));
}
