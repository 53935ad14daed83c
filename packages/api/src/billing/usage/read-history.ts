import { type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { prepared } from '../../platform/db/client.ts';
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
  const range = rangeOf(app, meters, days);
  const [row] = await storedDays(app.db).execute({ organisationId, ...range });
  return historiesFrom(meters, range.dates, row?.stored ?? null);
}

const storedDays = prepared((db) =>
  db
    .select({ stored: usageDays(sql.placeholder('organisationId')) })
    .from(sql`(select 1) as one`)
    .prepare('usage_days'),
);

/** A stored day of a meter, as the database writes it in JSON. */
type StoredDay = { meter: string; date: string; used: number; is_hold: boolean };

/** The days in UTC of a history, and the values of the placeholders of `usageDays`. */
function rangeOf(app: App, meters: Meter[], days: number) {
  const now = app.now().getTime();
  const dates = Array.from({ length: days }, (_, at) => dayOf(new Date(now - (days - 1 - at) * dayMilliseconds)));
  const asked = JSON.stringify(meters.map(({ meter, kind }) => ({ meter, is_gauge: kind === 'gauge' })));
  return { dates, asked, first: dates[0] ?? '', today: dates.at(-1) ?? '', now: new Date(now).toISOString() };
}

/**
 * A column for any query that knows an organisation's id and has the placeholders of `rangeOf`: the stored days
 * from the first one on, in their order, and, for a gauge, the last day before it. The current row of a meter
 * holds its own last day, and open holds the day on which they were made.
 */
function usageDays(organisationId: unknown): SQL<StoredDay[] | null> {
  const first = sql`${sql.placeholder('first')}::date`;
  return sql<StoredDay[] | null>`(
    with asked as (select * from json_to_recordset(${sql.placeholder('asked')}::json) as asked (meter text, is_gauge boolean))
    select json_agg(each order by each.date, each.is_current) from (
      select asked.meter, stored.date, stored.used, false as is_current, false as is_hold from asked cross join lateral (
        select day as date, used from usage_days
        where organisation_id = ${organisationId} and meter = asked.meter and day >= coalesce((
          select max(day) from usage_days
          where asked.is_gauge and organisation_id = ${organisationId} and meter = asked.meter and day < ${first}), ${first})
      ) as stored
      union all
      select meter, day, case when is_gauge then used else day_used end, true, false from usage join asked using (meter)
      where organisation_id = ${organisationId} and (is_gauge or day >= ${first})
      union all
      select meter, ${sql.placeholder('today')}::date, (
        select count(*) from memberships where organisation_id = ${organisationId}
      ), true, false from asked where meter = 'members'
      union all
      select meter, day, sum(amount)::bigint, true, true from usage_holds join asked using (meter)
      where organisation_id = ${organisationId} and outcome is null and ends_at > ${sql.placeholder('now')}::timestamptz
      group by meter, day
    ) as each)`;
}

/** Returns a history of each meter from the stored days. */
function historiesFrom(meters: Meter[], dates: string[], stored: StoredDay[] | null): MeterHistory[] {
  return meters.map(({ meter, kind }) => {
    const own = (stored ?? []).filter((row) => row.meter === meter);
    const holds = own.filter((row) => row.is_hold);
    const used =
      kind === 'gauge'
        ? levels(
            own.filter((row) => !row.is_hold),
            holds,
            dates,
          )
        : sums(own, dates);
    return { meter, days: dates.map((date, at) => ({ date, used: used[at] ?? 0 })) };
  });
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
