import type { App } from '../app.ts';
import type { Reader } from '../sessions/authorisation.ts';
import { organisationOf } from '../sessions/principal.ts';
import { dayOf, type Meter, meterInPath } from './meter.ts';

const dayMilliseconds = 86_400_000;

/** The usage of a day in UTC: a counter's sum, or a gauge's value at the end of the day (for today its current value). */
export type UsageDay = { date: string; used: number };

export type MeterHistory = { meter: string; days: UsageDay[] };

/**
 * Returns the history of a meter for the last `days` days, the oldest first, with today. Days
 * without use are zero; a gauge keeps its value until it changes.
 *
 * @throws AppError NOT_FOUND for an unknown meter.
 */
export async function readHistory(
  app: App,
  { organisationId }: { organisationId: string },
  name: string,
  days: number,
): Promise<MeterHistory> {
  const [history] = await readHistories(app, organisationId, [meterInPath(app, name)], days);
  return history ?? { meter: name, days: [] };
}

/**
 * Returns the history of every meter of the principal's organisation, for 30 days, by one statement.
 *
 * @throws AppError NO_ORGANISATION if the principal has no organisation.
 */
export function readRecentHistories(app: App, principal: Reader): Promise<MeterHistory[]> {
  return readHistories(app, organisationOf(principal).id, app.plans.meters, 30);
}

async function readHistories(app: App, organisationId: string, meters: Meter[], days: number): Promise<MeterHistory[]> {
  const now = app.now();
  const dates = Array.from({ length: days }, (_, at) =>
    dayOf(new Date(now.getTime() - (days - 1 - at) * dayMilliseconds)),
  );

  const rows = await readDays(app, organisationId, meters, dates[0] ?? dayOf(now));
  return meters.map(({ meter, kind }) => {
    const own = rows.filter((row) => row.meter === meter);
    const used = kind === 'gauge' ? levels(own, dates) : sums(own, dates);
    return { meter, days: dates.map((date, at) => ({ date, used: used[at] ?? 0 })) };
  });
}

/**
 * Reads the stored days from `first` on and, for a gauge, the last day before it. The current row of a
 * meter holds its own last day.
 */
async function readDays(app: App, organisationId: string, meters: Meter[], first: string) {
  const asked = JSON.stringify(meters.map(({ meter, kind }) => ({ meter, is_gauge: kind === 'gauge' })));
  const hasMembers = meters.some(({ meter }) => meter === 'members');
  const rows = await app.sql<{ meter: string; date: string; used: string }[]>`
    with asked as (select * from json_to_recordset(${asked}::json) as asked (meter text, is_gauge boolean))
    select asked.meter, stored.date, stored.used from asked cross join lateral (
      select day::text as date, used from usage_days
      where organisation_id = ${organisationId} and meter = asked.meter and day >= coalesce((
        select max(day) from usage_days
        where asked.is_gauge and organisation_id = ${organisationId} and meter = asked.meter and day < ${first}), ${first}::date)
    ) as stored
    union all
    select meter, day::text, case when is_gauge then used else day_used end from usage join asked using (meter)
    where organisation_id = ${organisationId} and (is_gauge or day >= ${first})
    union all
    select 'members', ${dayOf(app.now())}, count(*) from memberships
    where ${hasMembers} and organisation_id = ${organisationId} having ${hasMembers}
    order by 2`;
  return rows.map(({ meter, date, used }) => ({ meter, date, used: Number(used) }));
}

function sums(rows: UsageDay[], dates: string[]): number[] {
  const totals = new Map<string, number>();
  for (const { date, used } of rows) totals.set(date, (totals.get(date) ?? 0) + used);
  return dates.map((date) => totals.get(date) ?? 0);
}

/** The rows are in the order of their days. Of two rows for a day, the later one is the current row. */
function levels(rows: UsageDay[], dates: string[]): number[] {
  return dates.map((day) => rows.findLast(({ date }) => date <= day)?.used ?? 0);
}
