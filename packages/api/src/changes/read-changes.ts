import { z } from 'zod';
import type { App } from '../app.ts';
import { cutNumber } from '../platform/security/keyset-pagination.ts';
import { assignPositions } from './assign-positions.ts';
import { type ChangeReader, cursorAt, positionOf } from './cursor.ts';
import type { ChangeType } from './record-change.ts';
import type { WaitingRequest } from './signal.ts';

const wholeWait = 'The seconds to wait must be a whole number from 0.';
const wholeLimit = 'The limit must be a whole number from 1.';

/** Higher values are cut to 60 seconds and 1,000 changes. */
export const changesInput = z.object({
  after: z.string('A cursor is text.').optional(),
  wait: cutNumber(wholeWait, { least: 0, most: 60, absent: 0 }),
  limit: cutNumber(wholeLimit, { least: 1, most: 1000, absent: 100 }),
});

export type Change = {
  cursor: string;
  at: string;
  type: ChangeType;
  organisation: string | null;
  user: string | null;
  data: Record<string, unknown>;
};

/**
 * Returns the changes after a cursor in the order of the feed, and the cursor to continue with.
 * While there is none, waits up to `wait` seconds without a database connection. Ends at once,
 * with what there is, when the process ends or the request is aborted. A caller that lost its authority
 * while it waited gets no change: its next request gets the reason.
 *
 * @throws AppError VALIDATION for a cursor of another deployment or beyond the end; GONE with the
 *   oldest cursor if changes after it are no longer kept; TOO_MANY if 50 requests of the caller wait.
 */
export async function readChanges(
  app: App,
  reader: ChangeReader,
  { after, wait, limit }: z.output<typeof changesInput>,
  { mayStillRead, ...who }: WaitingReader,
): Promise<{ changes: Change[]; next: string }> {
  const until = performance.now() + wait * 1000;
  let feed = await assignPositions(app);
  let from = positionOf(feed, reader, after);
  let hasWaited = false;

  for (;;) {
    const rows = await readRows(app, reader, from, feed.last, limit);
    if (hasWaited && rows.length > 0 && !(await mayStillRead()))
      return { changes: [], next: cursorAt(feed, reader, from) };
    const left = until - performance.now();
    if (rows.length > 0 || left <= 0 || app.changes.isStopped()) {
      const end = rows.length === limit ? Number(rows.at(-1)?.position) : feed.last;
      const changes = rows.map(({ position, at, type, organisation_id, user_id, data }) => {
        const cursor = cursorAt(feed, reader, Number(position));
        return { cursor, at: new Date(at).toISOString(), type, organisation: organisation_id, user: user_id, data };
      });
      return { changes, next: cursorAt(feed, reader, Math.max(from, end)) };
    }
    from = Math.max(from, feed.last);
    await app.changes.wait(from, left, who);
    hasWaited = true;
    if (who.signal?.aborted) return { changes: [], next: cursorAt(feed, reader, from) };
    if (!app.changes.isStopped()) feed = await assignPositions(app);
  }
}

/** `mayStillRead` is asked before a request that has waited gets changes. */
type WaitingReader = WaitingRequest & { mayStillRead: () => Promise<boolean> };

type Row = {
  position: string;
  at: string;
  type: ChangeType;
  organisation_id: string | null;
  user_id: string | null;
  data: Record<string, unknown>;
};

function readRows(app: App, reader: ChangeReader, from: number, to: number, limit: number): PromiseLike<Row[]> {
  const organisationId = reader.reads === 'organisation' ? reader.organisationId : null;
  return app.sql<Row[]>`
    select position, at, type, organisation_id, user_id, data from changes
    where position > ${from} and position <= ${to}
      and (${organisationId}::uuid is null or organisation_id = ${organisationId}::uuid)
    order by position limit ${limit}`;
}
