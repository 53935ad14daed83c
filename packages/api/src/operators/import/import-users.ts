import type { App } from '../../app.ts';
import type { CommandLine } from '../actor.ts';
import { type OrganisationLine, readLine, type UserLine } from './import-line.ts';
import { failureOf, storeAllOrOneByOne } from './one-by-one.ts';
import { storeOrganisations } from './store-organisations.ts';
import { type Outcome, storeUsers } from './store-users.ts';

/** What is reported about a line that was not stored, by its number in the file. */
export type Told = { line: number; sentence: string };

export type Imported = { users: number; organisations: number; here: number; failed: number; leftOut: number };

type Line = UserLine | OrganisationLine;

/** Lines of one type that are stored together, with their numbers in the file. */
type Batch = { number: number; line: Line }[];

const batchSize = 500;
/** The members of a batch's organisations. One organisation may have more. */
const batchMembers = 5000;

/**
 * Imports users and organisations, one JSON object a line: what fails or is here already is reported with its number, and keeps
 * no other line from being stored. A second run of the same file changes nothing, so that one that was interrupted is
 * run again. With `dryRun` nothing is stored.
 */
export async function* importUsers(
  app: App,
  lines: AsyncIterable<string>,
  { dryRun, actor }: { dryRun: boolean; actor: CommandLine },
): AsyncGenerator<Told, Imported> {
  const done: Imported = { users: 0, organisations: 0, here: 0, failed: 0, leftOut: 0 };
  const inFile = new Set<string>();
  const options = { dryRun, actor, isInFile: (email: string) => inFile.has(email) };
  let batch: Batch = [];
  let number = 0;

  async function* storeBatch(): AsyncGenerator<Told> {
    const taken = batch;
    batch = [];
    const all = taken.map(({ line }) => line);
    const users = all.filter((line) => line.type === 'user');
    const organisations = all.filter((line) => line.type === 'organisation');
    const outcomes = [
      ...(await storeAllOrOneByOne(users, (some) => storeUsers(app, some, options))),
      ...(await storeAllOrOneByOne(organisations, (some) => storeOrganisations(app, some, options))),
    ];
    for (const [at, { number, line }] of taken.entries()) yield* tell(number, line, outcomes[at] ?? 'here');
  }

  function* tell(number: number, line: Line, outcome: Outcome): Generator<Told> {
    if (outcome === 'here') {
      done.here += 1;
      yield { line: number, sentence: `${nameOf(line)} is here already.` };
    } else if (outcome !== 'stored') {
      done.failed += 1;
      yield { line: number, sentence: outcome.failed };
    } else if (line.type === 'organisation') {
      done.organisations += 1;
    } else {
      done.users += 1;
      if (line.leftOut) done.leftOut += 1;
      if (dryRun) inFile.add(line.email);
    }
  }

  for await (const read of lines) {
    number += 1;
    // Some programs begin a file in UTF-8 with a byte order mark.
    const text = number === 1 ? read.replace(/^\ufeff/, '') : read;
    if (text.trim() === '') continue;
    const line = attempt(() => readLine(app, text));
    if ('failed' in line) {
      done.failed += 1;
      yield { line: number, sentence: line.failed };
      continue;
    }
    if (isComplete(batch, line)) yield* storeBatch();
    batch.push({ number, line });
  }
  yield* storeBatch();
  return done;
}

/** Whether a batch is stored before a line joins it: it is full, or the line is read when those of the batch are stored. */
function isComplete(batch: Batch, next: Line): boolean {
  if (batch.length === batchSize || batch.some(({ line }) => comesBefore(line, next))) return true;
  const members = batch.reduce((sum, { line }) => sum + memberCount(line), 0);
  return members + memberCount(next) > batchMembers;
}

/** Whether the second of two lines depends on the first: on its users, or because both may be of one account or organisation. */
function comesBefore(one: Line, other: Line): boolean {
  if (one.type === 'user' && other.type === 'user') {
    return one.email === other.email || (one.identity !== null && isSame(one.identity, other.identity));
  }
  if (one.type === 'user' || other.type === 'user') return true;
  return one.slug === null || other.slug === null ? one.name === other.name : one.slug === other.slug;
}

function isSame(one: NonNullable<UserLine['identity']>, other: UserLine['identity']): boolean {
  return one.subject === other?.subject && one.issuer === other.issuer;
}

function memberCount(line: Line): number {
  return line.type === 'organisation' ? line.members.length : 0;
}

function nameOf(line: Line): string {
  return line.type === 'user' ? line.email : (line.slug ?? line.name);
}

function attempt<Result>(read: () => Result): Result | { failed: string } {
  try {
    return read();
  } catch (error) {
    return failureOf(error);
  }
}
