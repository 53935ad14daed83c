import { type Column, type SQL, sql } from 'drizzle-orm';

/** Returns the position of a row in a list that is ordered by a time and then by an id. */
export function cursorOf(at: Date, id: string): string {
  return `${at.getTime()}-${id}`;
}

/** Returns the condition for the rows after a cursor, in ascending order; undefined without a readable one. */
export function afterCursor(at: Column | SQL, id: Column, cursor: string | undefined): SQL | undefined {
  const position = read(cursor);
  return position && sql`(${at}, ${id}) > (${position.at}::timestamptz, ${position.id}::uuid)`;
}

/** Returns the condition for the rows after a cursor, in descending order; undefined without a readable one. */
export function beforeCursor(at: Column | SQL, id: Column, cursor: string | undefined): SQL | undefined {
  const position = read(cursor);
  return position && sql`(${at}, ${id}) < (${position.at}::timestamptz, ${position.id}::uuid)`;
}

/** A time in milliseconds, at most the year 5138, and an id. */
const form = /^(\d{1,14})-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

function read(cursor: string | undefined): { at: string; id: string } | undefined {
  const [, milliseconds, id] = form.exec(cursor ?? '') ?? [];
  return milliseconds === undefined || id === undefined
    ? undefined
    : { at: new Date(Number(milliseconds)).toISOString(), id };
}
