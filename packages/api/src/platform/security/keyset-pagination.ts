import { z } from 'zod';
import { isUuid } from '../db/id.ts';
import { AppError } from '../errors.ts';
import { message, zodMessage } from '../messages.ts';

const maxRows = 1000;
const wholeLimit = 'The limit must be a whole number from 1.';

/** A page of a list that is sorted by id. A higher limit is cut to 1,000. */
export const keysetInput = z.object({
  /** `next` of the page before. */
  after: z.string(zodMessage('no_such_page')).optional(),
  limit: cutNumber(wholeLimit, { least: 1, most: maxRows, absent: 100 }),
});

/**
 * Returns the schema of a whole number in a query; it is `absent` if the query has none. A number above `most` is cut to
 * that before it is checked, because it may have more digits than a number can hold. `sentence` is the error for others.
 */
export function cutNumber(sentence: string, { least, most, absent }: { least: number; most: number; absent: number }) {
  const number = z.number(sentence).int(sentence).min(least, sentence).default(absent);
  const read = (value: unknown) =>
    value === undefined || !/^\d+$/.test(String(value)) ? value : Math.min(Number(value), most);
  return z.preprocess(read, number).describe(`A higher number is cut to ${most.toLocaleString('en')}.`);
}

/** Returns the id after which a page starts; null for the first page. @throws AppError VALIDATION if `after` is unreadable. */
export function idAfter({ after }: z.output<typeof keysetInput>): string | null {
  if (after === undefined) return null;
  const id = Buffer.from(after, 'base64url').toString();
  if (!isUuid(id) || cursorOf(id) !== after) {
    throw new AppError('VALIDATION', message('no_such_page'), { fields: { after: message('no_such_page') } });
  }
  return id;
}

/** Returns the page of a list that is sorted by id, as `pageOf`. */
export function keysetPageOf<Row extends { id: string }>(rows: Row[], limit: number) {
  return pageOf(rows, limit, ({ id }) => cursorOf(id));
}

/** Returns the first `limit` of rows that were read with one more, and the cursor after the last of them; null on the last page. */
export function pageOf<Row>(rows: Row[], limit: number, cursorAfter: (row: Row) => string) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next: rows.length > limit && last !== undefined ? cursorAfter(last) : null };
}

/** Cursors are opaque to callers, so that the order can change. */
function cursorOf(id: string): string {
  return Buffer.from(id).toString('base64url');
}
