import { type Column, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { zodMessage } from '../platform/messages.ts';
import { freeLine } from '../platform/security/text.ts';

/** The `next` of the previous page. */
export const cursorInput = z.string(zodMessage('not_text')).optional();

/** Returns the position of a row in a list that is ordered by a time and then by an id. */
export function cursorOf(at: Date, id: string): string {
  return `${at.getTime()}-${id}`;
}

/** Returns the condition for the rows after a cursor, in ascending order. A malformed cursor is ignored. */
export function afterCursor(at: Column | SQL, id: Column, cursor: string | undefined): SQL | undefined {
  const position = read(cursor);
  return position && sql`(${at}, ${id}) > (${position.at}::timestamptz, ${position.id}::uuid)`;
}

/** Returns the condition for the rows after a cursor, in descending order. A malformed cursor is ignored. */
export function beforeCursor(at: Column | SQL, id: Column, cursor: string | undefined): SQL | undefined {
  const position = read(cursor);
  return position && sql`(${at}, ${id}) < (${position.at}::timestamptz, ${position.id}::uuid)`;
}

const form = /^(\d{1,14})-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

function read(cursor: string | undefined): { at: string; id: string } | undefined {
  const [, milliseconds, id] = form.exec(cursor ?? '') ?? [];
  return milliseconds === undefined || id === undefined
    ? undefined
    : { at: new Date(Number(milliseconds)).toISOString(), id };
}

const maxRows = 1000;

/** The input for a page of a list that is ordered by id, or of the rows that a search finds in it. */
export const listInput = z.object({
  search: freeLine(100).optional(),
  /** The `next` of the previous page. */
  after: z.uuid('This must be an id.').optional(),
  /** The number of rows. Exports read larger pages than users do. */
  rows: z.number('This must be a number.').int().min(1).max(maxRows).default(50),
});
