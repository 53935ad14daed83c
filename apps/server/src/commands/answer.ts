import type { App } from '@gatehouse/api/app';
import { InvalidArgumentError } from 'commander';

/** What a command prints. A report that is not sound makes the exit code 1. */
export type Answer = string | { report: string; sound: boolean };

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
  if (json) return JSON.stringify(rows, null, 2);
  return rows.map(lineOf).join('\n') || none;
}

/** Parses an argument that must not be blank. */
export function notBlank(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be blank.');
  return value;
}
