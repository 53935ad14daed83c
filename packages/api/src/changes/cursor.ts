import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { AppError, invalid } from '../platform/errors.ts';
import type { Feed } from './assign-positions.ts';

/** Whose changes a caller may read: those of every organisation, or of one. */
export type ChangeReader = { reads: 'deployment' } | { reads: 'organisation'; organisationId: string };

/**
 * Returns the cursor of a position in the feed for a reader: the position as one block, encrypted by a key of the
 * deployment and the reader. So it is the same for the same change, is no other reader's, and tells a customer nothing of
 * how much happens in other organisations.
 */
export function cursorAt(feed: Feed, reader: ChangeReader, position: number): string {
  const block = Buffer.alloc(16);
  block.writeBigUInt64BE(BigInt(position), 8);
  return createCipheriv('aes-256-ecb', keyOf(feed, reader), null)
    .setAutoPadding(false)
    .update(block)
    .toString('base64url');
}

/**
 * Returns the position that a reader's cursor names: without a cursor the end of the feed, with "0" the start of what is
 * kept.
 *
 * @throws AppError VALIDATION if the cursor is not one of this reader and deployment, or lies beyond the end; GONE with
 *   the oldest cursor if changes after it were deleted.
 */
export function positionOf(feed: Feed, reader: ChangeReader, cursor: string | undefined): number {
  if (cursor === undefined) return feed.last;
  if (cursor === '0') return feed.deletedTo;

  const position = decrypted(feed, reader, cursor);
  if (position === null || position > feed.last || cursorAt(feed, reader, position) !== cursor) {
    throw invalid({ after: 'This is not a cursor of this deployment.' });
  }
  if (position < feed.deletedTo) {
    throw new AppError('GONE', 'The changes after this cursor are no longer kept.', {
      facts: { oldest: cursorAt(feed, reader, feed.deletedTo) },
    });
  }
  return position;
}

/** The first eight bytes of a block are zero, which those of another key's block are not. */
function decrypted(feed: Feed, reader: ChangeReader, cursor: string): number | null {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== 16) return null;
  const block = createDecipheriv('aes-256-ecb', keyOf(feed, reader), null).setAutoPadding(false).update(bytes);
  const position = Number(block.readBigUInt64BE(8));
  return block.readBigUInt64BE(0) === 0n && Number.isSafeInteger(position) ? position : null;
}

/** `deployment` is random, and no answer holds it. */
function keyOf({ deployment }: Feed, reader: ChangeReader): Buffer {
  const whose = reader.reads === 'deployment' ? 'deployment' : reader.organisationId;
  return createHmac('sha256', deployment).update(whose).digest();
}
