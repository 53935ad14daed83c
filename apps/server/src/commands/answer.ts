import type { App } from '@gatehouse/api/app';
import { InvalidArgumentError } from 'commander';

/**
 * What a command prints: a text; a report, which makes the exit code 1 if it is not sound; or texts of any number,
 * printed as they are read, each of which ends its own line.
 */
export type Answer = string | { report: string; sound: boolean } | AsyncIterable<string>;

export type Needs = {
  /** Whether the command runs while the database is unavailable. */
  withoutDatabase?: boolean;
  /** Whether the database is migrated before the command runs. */
  migrates?: boolean;
};

/**
 * Makes the App, calls `act` with it and prints its answer. Errors that `act` throws reach the caller
 * of the program, for which the message is the sentence to print.
 */
export type Perform = (act: (app: App) => Promise<Answer>, needs?: Needs) => Promise<void>;

/** The option of every command that lists something. */
export const jsonOption = ['--json', 'prints JSON in place of lines of text'] as const;

/** Prints rows as lines of text or as JSON. `none` is the text of an empty list. */
export function listing<Row>(rows: Row[], json: boolean, lineOf: (row: Row) => string, none: string): string {
  if (json) return asJson(rows);
  return rows.map(lineOf).join('\n') || none;
}

type PageOf<Row> = { rows: Row[]; next: string | null };

/**
 * Prints pages of rows as they are read, as `listing` does with all of them: a million users do not fit into one text.
 * `readPage` gets the end of the page before.
 */
export async function* streamed<Row>(
  readPage: (after: string | undefined) => Promise<PageOf<Row>>,
  json: boolean,
  lineOf: (row: Row) => string,
  none: string,
): AsyncGenerator<string> {
  let count = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const { rows, next }: PageOf<Row> = await readPage(after ?? undefined);
    const texts = rows.map((row, at) =>
      json ? `${count + at === 0 ? '[' : ','}\n${asJson(row, 0)}` : `${lineOf(row)}\n`,
    );
    if (texts.length > 0) yield texts.join('');
    count += rows.length;
    after = next;
  }
  if (json) yield count === 0 ? '[]\n' : '\n]\n';
  else if (count === 0) yield `${none}\n`;
}

/** Returns a value as JSON whose members are in snake_case, as those of every endpoint. */
export function asJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, (_key, member) => (isRecord(member) ? inSnakeCase(member) : member), indent);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inSnakeCase(record: Record<string, unknown>): Record<string, unknown> {
  const name = (key: string) => key.replace(/[a-z0-9](?=[A-Z])/g, '$&_').toLowerCase();
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [name(key), value]));
}

/** Parses an argument that must not be blank. */
export function notBlank(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be blank.');
  return value;
}
