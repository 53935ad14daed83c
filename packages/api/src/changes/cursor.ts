import { AppError, invalid } from '../platform/errors.ts';
import type { Feed } from './assign-positions.ts';

/** Returns the opaque cursor of a position in the feed. */
export function cursorAt({ deployment }: Feed, position: number): string {
  return Buffer.from(`${deployment}:${position}`).toString('base64url');
}

/**
 * Returns the position that a cursor names: without a cursor the end of the feed, with "0" the
 * start of what is kept.
 *
 * @throws AppError VALIDATION if the cursor is not one of this deployment, or lies beyond the end;
 *   GONE with the oldest cursor if changes after it were deleted.
 */
export function positionOf(feed: Feed, cursor: string | undefined): number {
  if (cursor === undefined) return feed.last;
  if (cursor === '0') return feed.deletedTo;

  const [deployment, digits = ''] = Buffer.from(cursor, 'base64url').toString().split(':');
  const position = /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
  if (deployment !== feed.deployment || position < 0 || position > feed.last || cursorAt(feed, position) !== cursor) {
    throw invalid({ after: 'This is not a cursor of this deployment.' });
  }
  if (position < feed.deletedTo) {
    throw new AppError('GONE', 'The changes after this cursor are no longer kept.', {
      facts: { oldest: cursorAt(feed, feed.deletedTo) },
    });
  }
  return position;
}
