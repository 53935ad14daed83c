import type { App } from '../../app.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { dayOf } from './meter.ts';

/** The longest history that can be read, and a month to spare. */
const keptDays = 430;
const batchSize = 5000;
const pageSize = 1000;

/**
 * Stores how many members each organisation had at the end of yesterday (UTC), where that
 * differs from the last stored day: memberships are the meter, and hold no history. Works on a page of
 * organisations in each statement.
 */
export async function storeMemberDays(app: App): Promise<void> {
  const today = dayOf(app.now());
  for (let last: string | null = null; ; ) {
    const page: { id: string }[] = await app.sql`
      select id from organisations where ${last}::uuid is null or id > ${last} order by id limit ${pageSize}`;
    await storeMemberDaysOf(
      app,
      today,
      page.map(({ id }) => id),
    );
    last = page.at(-1)?.id ?? null;
    if (page.length < pageSize) return;
  }
}

async function storeMemberDaysOf(app: App, today: string, organisationIds: string[]): Promise<void> {
  await app.sql`
    insert into usage_days as held (organisation_id, meter, day, used)
    select organisations.id, 'members', ${today}::date - 1, now_there.used
    from organisations
    cross join lateral (
      select count(*) as used from memberships
      where organisation_id = organisations.id and created_at < (${today}::date)::timestamp at time zone 'UTC'
    ) as now_there
    left join lateral (
      select used from usage_days
      where organisation_id = organisations.id and meter = 'members' and day < ${today}::date - 1
      order by day desc limit 1
    ) as before on true
    where organisations.id = any(${organisationIds}::uuid[]) and now_there.used is distinct from coalesce(before.used, 0)
    on conflict (organisation_id, meter, day) do nothing`;
}

/**
 * Deletes days and counters that no history reaches, in steps that hold no lock for long. The
 * newest of the old days stays, because it is the value of a gauge that has not changed since.
 */
export async function deleteOldDays(app: App): Promise<void> {
  const cutoff = dayOf(new Date(app.now().getTime() - keptDays * dayMilliseconds));
  await inSteps(
    () => app.sql`
      delete from usage_days where (organisation_id, meter, day) in (
        select old.organisation_id, old.meter, old.day from usage_days as old
        where old.day < ${cutoff} and exists (
          select from usage_days as newer
          where newer.organisation_id = old.organisation_id and newer.meter = old.meter
            and newer.day > old.day and newer.day < ${cutoff})
        limit ${batchSize})`,
  );
  await inSteps(
    () => app.sql`
      delete from usage where (organisation_id, meter, since) in (
        select organisation_id, meter, since from usage
        where since > 'epoch' and since < ${cutoff} and day < ${cutoff} limit ${batchSize})`,
  );
}

async function inSteps(step: () => PromiseLike<{ count: number }>): Promise<void> {
  while ((await step()).count === batchSize);
}
