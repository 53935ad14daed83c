import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { OrganisationPlan } from '../../organisations/plan.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { usage, usageHolds } from '../../platform/db/schema/usage.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { AppError, invalid } from '../../platform/errors.ts';

/**
 * A 'gauge' holds a level (members, projects). A 'counter' counts since the start of a period
 * (API calls).
 */
export type Meter = App['plans']['meters'][number];

/** The largest value of a meter: the largest whole number that JSON readers agree on. */
export const maxUsed = Number.MAX_SAFE_INTEGER;

/** Returns the meter that a path names. @throws AppError NOT_FOUND if the plans have no such meter. */
export function meterInPath(app: App, name: string): Meter {
  const meter = app.plans.meters.find((each) => each.meter === name);
  if (meter === undefined) throw new AppError('NOT_FOUND', 'There is no such meter.');
  return meter;
}

/** Returns the meter that a body names. @throws AppError VALIDATION if the plans have no such meter. */
export function meterInBody(app: App, name: string): Meter {
  const meter = app.plans.meters.find((each) => each.meter === name);
  if (meter === undefined) throw invalid({ meter: 'There is no such meter.' });
  return meter;
}

/** The time from which a meter counts, and when it starts at zero again: null for a gauge. */
export type Period = { since: Date; resetsAt: Date | null };

/**
 * Returns a meter's current period. A counter follows the calendar month in UTC
 * (docs/decisions/010), or the period of the subscription that gives the plan, if the plans say so and there is one. A
 * period that is longer than a month, as that of a yearly price, is counted by months that end on its day.
 */
export function periodOf(
  meter: Meter,
  current: Pick<OrganisationPlan, 'plan' | 'source' | 'subscription'> | null,
  now: Date,
): Period {
  if (meter.kind === 'gauge') return { since: new Date(0), resetsAt: null };

  const subscription = current?.source === 'subscription' ? current.subscription : null;
  const end = subscription?.currentPeriodEnd ?? null;
  if (meter.resets === 'calendar_month' || subscription === null || end === null) {
    return { since: monthStart(now, 0), resetsAt: monthStart(now, 1) };
  }
  const start = subscription.currentPeriodStart;
  const isPaid = start !== null && start <= now && now < end;
  const isLong = start !== null && end.getTime() - start.getTime() > longestMonthMilliseconds;
  if (isPaid && !isLong) return { since: start, resetsAt: end };

  const paid = isLong ? 'month' : (current?.plan.price?.interval ?? 'month');
  const interval = paid === 'year' ? 'month' : paid;
  const ends = (steps: number) => addIntervals(end, steps, interval, start ?? subscription.startedAt);
  // The event that reports the next period may be late: the counter starts again without it.
  let step = 0;
  while (ends(step) <= now) step += 1;
  while (step > -maximumSteps && ends(step - 1) > now) step -= 1;
  const since = ends(step - 1);
  return { since: isPaid && since < start ? start : since, resetsAt: ends(step) };
}

const longestMonthMilliseconds = 31 * dayMilliseconds;
const maximumSteps = 400;

/**
 * Adds billing intervals to the end of a period. A period that started on the 31st ends in
 * February on the 28th and the next one in March on the 31st, so the day of the start decides.
 */
function addIntervals(end: Date, count: number, interval: 'day' | 'week' | 'month', start: Date | null): Date {
  if (interval === 'day' || interval === 'week') {
    return new Date(end.getTime() + count * (interval === 'week' ? 7 : 1) * dayMilliseconds);
  }
  const isCut = end.getUTCDate() === daysIn(end.getUTCFullYear(), end.getUTCMonth());
  const startDay = start?.getUTCDate() ?? 0;
  const day = isCut ? Math.max(startDay, end.getUTCDate()) : end.getUTCDate();
  const month = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + count));
  const [year, at] = [month.getUTCFullYear(), month.getUTCMonth()];
  return new Date(Date.UTC(year, at, Math.min(day, daysIn(year, at))) + (end.getTime() % dayMilliseconds));
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

/** Returns the start of a calendar month in UTC. */
function monthStart(now: Date, monthsLater: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsLater, 1));
}

/** Returns the day in UTC: "2026-11-30". */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The answer to what changes a meter. */
export type UsageAnswer = {
  meter: string;
  used: number;
  /** Null if the plan has no limit. */
  limit: number | null;
  resets_at: string | null;
};

export type MeterReading = {
  meter: string;
  name: string;
  used: number;
  /** Null if the plan has no limit. */
  limit: number | null;
  resets_at: string | null;
};

/** What an organisation has used, as the database writes it in JSON. */
type StoredUsage = { counted: { meter: string; since: string; used: number }[] | null; members: number };

/**
 * Returns a column for any query that knows an organisation's id: the counts from which its meters are read. `now` is
 * the time of the request; no current period started 370 days before it.
 */
export function storedUsage(organisationId: unknown, now: unknown): SQL<StoredUsage> {
  return sql<StoredUsage>`json_build_object(
    'counted', (select json_agg(counted) from (
      select ${usage.meter}, ${usage.since}, ${usage.used} + ${onHold(now)} as used from ${usage}
      where ${usage.organisationId} = ${organisationId}
        and (${usage.since} = 'epoch'::timestamptz or ${usage.since} >= ${now}::timestamptz - interval '370 days')
    ) as counted),
    'members', (select count(*)::int from ${memberships} where ${memberships.organisationId} = ${organisationId}))`;
}

/** What a row of usage has on hold at a time, as a column: its holds that are open and whose end has not passed. */
function onHold(now: unknown): SQL<number> {
  return sql<number>`case when ${usage.onHold} = 0 then 0 else (
    select coalesce(sum(${usageHolds.amount}), 0)::bigint from ${usageHolds}
    where ${usageHolds.organisationId} = ${usage.organisationId} and ${usageHolds.meter} = ${usage.meter}
      and ${usageHolds.since} = ${usage.since} and ${usageHolds.outcome} is null
      and ${usageHolds.endsAt} > ${now}::timestamptz
  ) end`;
}

/** Returns what is used of a meter since the start of a period. */
export async function readUsed(app: App, organisationId: string, meter: string, since: Date): Promise<number> {
  const used = sql<string>`${usage.used} + ${onHold(app.now().toISOString())}`;
  const isRow = and(eq(usage.organisationId, organisationId), eq(usage.meter, meter), eq(usage.since, since));
  const [row] = await app.db.select({ used }).from(usage).where(isRow);
  return Number(row?.used ?? 0);
}

/** Returns every meter with an organisation's usage and its plan's limit. */
export function readingsFrom(app: App, current: OrganisationPlan, { counted, members }: StoredUsage): MeterReading[] {
  const now = app.now();

  return app.plans.meters.map((meter) => {
    const { since, resetsAt } = periodOf(meter, current, now);
    const row = counted?.find(
      (each) => each.meter === meter.meter && new Date(each.since).getTime() === since.getTime(),
    );
    return {
      meter: meter.meter,
      name: meter.name,
      used: meter.meter === 'members' ? members : (row?.used ?? 0),
      limit: current.plan.limits[meter.meter] ?? null,
      resets_at: resetsAt?.toISOString() ?? null,
    };
  });
}
