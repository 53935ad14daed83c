import type { App } from '../app.ts';
import { dayOf, type Meter, meterInPath } from './meter.ts';

const dayMilliseconds = 86_400_000;

/** A day in UTC: of a counter what was counted, of a gauge its value at the day's end (today: now). */
export type UsageDay = { date: string; used: number };

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
): Promise<{ meter: string; days: UsageDay[] }> {
  const meter = meterInPath(app, name);
  const now = app.now();
  const dates = Array.from({ length: days }, (_, at) =>
    dayOf(new Date(now.getTime() - (days - 1 - at) * dayMilliseconds)),
  );

  const rows = await readDays(app, organisationId, meter, dates[0] ?? dayOf(now));
  const used = meter.kind === 'gauge' ? levels(rows, dates) : sums(rows, dates);
  return { meter: name, days: dates.map((date, at) => ({ date, used: used[at] ?? 0 })) };
}

/** The stored days from `first` on and, of a gauge, the last one before. The row in use holds its own last day. */
async function readDays(app: App, organisationId: string, { meter, kind }: Meter, first: string): Promise<UsageDay[]> {
  const isGauge = kind === 'gauge';
  const rows = await app.sql<{ date: string; used: string }[]>`
    select day::text as date, used from usage_days
    where organisation_id = ${organisationId} and meter = ${meter} and day >= coalesce((
      select max(day) from usage_days
      where ${isGauge} and organisation_id = ${organisationId} and meter = ${meter} and day < ${first}), ${first}::date)
    union all
    select day::text, case when ${isGauge} then used else day_used end from usage
    where organisation_id = ${organisationId} and meter = ${meter} and (${isGauge} or day >= ${first})
    union all
    select ${dayOf(app.now())}, count(*) from memberships
    where ${meter === 'members'} and organisation_id = ${organisationId} having ${meter === 'members'}
    order by 1`;
  return rows.map(({ date, used }) => ({ date, used: Number(used) }));
}

function sums(rows: UsageDay[], dates: string[]): number[] {
  const totals = new Map<string, number>();
  for (const { date, used } of rows) totals.set(date, (totals.get(date) ?? 0) + used);
  return dates.map((date) => totals.get(date) ?? 0);
}

/** The rows are in the order of their days. Of two for a day the later one is the row in use. */
function levels(rows: UsageDay[], dates: string[]): number[] {
  return dates.map((day) => rows.findLast(({ date }) => date <= day)?.used ?? 0);
}
