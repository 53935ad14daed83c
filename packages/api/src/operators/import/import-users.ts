import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { isAppError, isDatabaseUnavailable } from '../../platform/errors.ts';
import { describeError } from '../../platform/log.ts';
import type { CommandLine } from '../actor.ts';
import { type OrganisationLine, readLine, type UserLine } from './import-line.ts';
import { storeOrganisation } from './store-organisation.ts';
import { type Outcome, storeUsers } from './store-users.ts';

/** What is told of a line that was not stored, by its number in the file. */
export type Told = { line: number; sentence: string };

export type Imported = { users: number; organisations: number; here: number; failed: number; leftOut: number };

type Numbered = { line: number; user: UserLine };

const batchSize = 500;
/** At most 25 customers a second are asked for. */
const customerPauseMilliseconds = 40;

/**
 * Imports users and organisations, one JSON object a line: what fails or is here already is told with its number, and keeps
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
  let batch: Numbered[] = [];
  let number = 0;

  function* tell(line: number, name: string, outcome: Outcome): Generator<Told> {
    if (outcome === 'stored') return;
    if (outcome === 'here') done.here += 1;
    else done.failed += 1;
    yield { line, sentence: outcome === 'here' ? `${name} is here already.` : outcome.failed };
  }

  async function* storeBatch(): AsyncGenerator<Told> {
    const taken = batch;
    batch = [];
    const outcomes = await storeOneOrAll(app, taken, { dryRun, actor });
    for (const [at, { line, user }] of taken.entries()) {
      const outcome = outcomes[at] ?? 'here';
      if (outcome === 'stored') done.users += 1;
      if (outcome === 'stored' && user.leftOut) done.leftOut += 1;
      if (dryRun && outcome === 'stored') inFile.add(user.email);
      yield* tell(line, user.email, outcome);
    }
  }

  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const read = attempt(() => readLine(app, text));
    if ('failed' in read) {
      yield* tell(number, '', read);
    } else if (read.type === 'user') {
      if (batch.some(({ user }) => clashes(user, read))) yield* storeBatch();
      batch.push({ line: number, user: read });
      if (batch.length === batchSize) yield* storeBatch();
    } else {
      yield* storeBatch();
      const isInFile = (email: string) => inFile.has(email);
      const outcome = await storeOrganisation(app, read, { dryRun, actor, isInFile }).catch(failureOf);
      if (outcome === 'stored') done.organisations += 1;
      if (read.customer !== null && !dryRun) await delay(customerPauseMilliseconds);
      yield* tell(number, nameOf(read), outcome);
    }
  }
  yield* storeBatch();
  return done;
}

function nameOf({ slug, name }: OrganisationLine): string {
  return slug ?? name;
}

/** Whether two lines are of one account, so that the second is read when the first is stored. */
function clashes(one: UserLine, other: UserLine): boolean {
  if (one.email === other.email) return true;
  return one.identity !== null && JSON.stringify(one.identity) === JSON.stringify(other.identity);
}

/** Stores a batch; if that fails, for example because somebody signs up meanwhile, one after the other. */
async function storeOneOrAll(
  app: App,
  batch: Numbered[],
  options: { dryRun: boolean; actor: CommandLine },
): Promise<Outcome[]> {
  if (batch.length === 0) return [];
  const all = batch.map(({ user }) => user);
  try {
    return await storeUsers(app, all, options);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    const outcomes: Outcome[] = [];
    for (const user of all) {
      const [outcome = 'here'] = await storeUsers(app, [user], options).catch((error) => [failureOf(error)]);
      outcomes.push(outcome);
    }
    return outcomes;
  }
}

function attempt<Result>(read: () => Result): Result | { failed: string } {
  try {
    return read();
  } catch (error) {
    return failureOf(error);
  }
}

/** @throws the error where the database is away: the rest of the file would fail by it too. */
function failureOf(error: unknown): { failed: string } {
  if (isDatabaseUnavailable(error)) throw error;
  if (isAppError(error)) return { failed: error.message };
  const isSentence = error instanceof Error && error.name === 'Error' && !error.message.startsWith('Failed query');
  return { failed: isSentence ? error.message : describeError(error) };
}
