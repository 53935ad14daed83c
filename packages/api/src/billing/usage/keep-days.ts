import { and, exists, lt, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { deleteInSteps } from '../../platform/db/in-steps.ts';
import { usage, usageDays } from '../../platform/db/schema/usage.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { dayOf } from './meter.ts';

/** The longest history that can be read, and a month to spare. */
const keptDays = 430;
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
  const newer = sql`(select from usage_days as newer
    where newer.organisation_id = ${usageDays.organisationId} and newer.meter = ${usageDays.meter}
      and newer.day > ${usageDays.day} and newer.day < ${cutoff})`;
  await deleteInSteps(app.db, usageDays, and(lt(usageDays.day, cutoff), exists(newer)));

  const isOld = sql`${usage.since} > 'epoch' and ${usage.since} < ${cutoff} and ${usage.day} < ${cutoff}`;
  await deleteInSteps(app.db, usage, isOld);
}
