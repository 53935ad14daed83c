import type { App } from '../app.ts';
import { dayMilliseconds } from '../platform/durations.ts';
import { assignPositions } from './assign-positions.ts';

const keptMilliseconds = 30 * dayMilliseconds;
const batchSize = 5000;

/**
 * Deletes changes older than 30 days from the start of the feed, in steps that hold no lock for
 * long. Assigns positions first, so that changes are also deleted where no service reads the feed.
 */
export async function deleteOldChanges(app: App): Promise<void> {
  await assignPositions(app);
  const before = new Date(app.now().getTime() - keptMilliseconds).toISOString();
  for (;;) {
    const [step] = await app.sql<{ count: number }[]>`
      with deleted as (
        delete from changes where position in (
          select position from changes
          where position < coalesce(
            (select min(position) from changes where at >= ${before}), (select last_position + 1 from change_feed))
          order by position limit ${batchSize})
        returning position
      ), moved as (
        update change_feed set deleted_to = greatest(deleted_to, (select max(position) from deleted))
        where exists (select from deleted)
      )
      select count(*)::int as count from deleted`;
    if ((step?.count ?? 0) < batchSize) return;
  }
}
