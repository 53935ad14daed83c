import type { App } from '../../app.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { dayOf, type Meter, meterInPath } from './meter.ts';

/** The usage of a day in UTC: a counter's sum, or a gauge's value at the end of the day (for today its current value). */
type UsageDay = { date: string; used: number };

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

/** Returns the history of several meters, as `readHistory`, by one statement. */
export async function readHistories(
  app: App,
  organisationId: string,
  meters: Meter[],
  days: number,
): Promise<MeterHistory[]> {
  const now = app.now().getTime();
  const dates = Array.from({ length: days }, (_, at) => dayOf(new Date(now - (days - 1 - at) * dayMilliseconds)));
  const stored = await storedDays(app, organisationId, meters, dates);
  return meters.map(({ meter, kind }) => {
    const own = stored.filter((row) => row.meter === meter);
    const [holds, final] = [own.filter((row) => row.is_hold), own.filter((row) => !row.is_hold)];
    const used = kind === 'gauge' ? levels(final, holds, dates) : sums(own, dates);
    return { meter, days: dates.map((date, at) => ({ date, used: used[at] ?? 0 })) };
  });
}

type StoredDay = UsageDay & { meter: string; is_hold: boolean };

/**
 * Returns the stored days from the first one on, in their order, and, for a gauge, the last day before it. The current
 * row of a meter holds its own last day, and open holds the day on which they were made.
 */
async function storedDays(
  { sql, now }: App,
  organisationId: string,
  meters: Meter[],
  dates: string[],
): Promise<StoredDay[]> {
  const asked = JSON.stringify(meters.map(({ meter, kind }) => ({ meter, is_gauge: kind === 'gauge' })));
  const [first = '', today = ''] = [dates[0], dates.at(-1)];
  return sql<StoredDay[]>`
    with asked as (select * from json_to_recordset(${asked}::json) as asked (meter text, is_gauge boolean))
    select meter, date::text, used::float8, is_hold from (
      select asked.meter, stored.date, stored.used, false as is_current, false as is_hold from asked cross join lateral (
        select day as date, used from usage_days
        where organisation_id = ${organisationId} and meter = asked.meter and day >= coalesce((
          select max(day) from usage_days
          where asked.is_gauge and organisation_id = ${organisationId} and meter = asked.meter and day < ${first}::date
        ), ${first}::date)
      ) as stored
      union all
      select meter, day, case when is_gauge then used else day_used end, true, false from usage join asked using (meter)
      where organisation_id = ${organisationId} and (is_gauge or day >= ${first}::date)
      union all
      select meter, ${today}::date, (
        select count(*) from memberships where organisation_id = ${organisationId}
      ), true, false from asked where meter = 'members'
      union all
      select meter, day, sum(amount)::bigint, true, true from usage_holds join asked using (meter)
      where organisation_id = ${organisationId} and outcome is null and ends_at > ${now().toISOString()}::timestamptz
      group by meter, day
    ) as each order by each.date, is_current`;
}

function sums(rows: UsageDay[], dates: string[]): number[] {
  const totals = new Map<string, number>();
  for (const { date, used } of rows) totals.set(date, (totals.get(date) ?? 0) + used);
  return dates.map((date) => totals.get(date) ?? 0);
}

/** The rows are in the order of their days. Of two rows for a day, the later one is the current row. Holds come on top. */
function levels(rows: UsageDay[], holds: UsageDay[], dates: string[]): number[] {
  return dates.map((day) => {
    const final = rows.findLast(({ date }) => date <= day)?.used ?? 0;
    return holds.reduce((sum, { date, used }) => (date <= day ? sum + used : sum), final);
  });
}
