import type { App } from '../../app.ts';
import type { UsageFacts } from '../../organisations/usage-facts.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { entitlingSubscription, type OrganisationPlan, type SubscriptionFacts } from '../entitlement/read-plan.ts';

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

type Subscription = Pick<SubscriptionFacts, 'tier' | 'currentPeriodStart' | 'currentPeriodEnd' | 'startedAt'>;

/**
 * Returns a meter's current period. A counter follows the calendar month in UTC
 * (docs/decisions/010), or the subscription's period if the plans say so and there is one.
 * `subscription` is the one that entitles the organisation; null on the free tier.
 */
export function periodOf(
  { plans }: Pick<App, 'plans'>,
  meter: Meter,
  subscription: Subscription | null,
  now: Date,
): Period {
  if (meter.kind === 'gauge') return { since: new Date(0), resetsAt: null };

  const end = subscription?.currentPeriodEnd ?? null;
  if (meter.resets === 'calendar_month' || subscription === null || end === null) {
    return { since: monthStart(now, 0), resetsAt: monthStart(now, 1) };
  }
  const start = subscription.currentPeriodStart;
  if (start !== null && start <= now && now < end) return { since: start, resetsAt: end };

  const interval = plans.tiers.find(({ tier }) => tier === subscription.tier)?.price?.interval ?? 'month';
  const ends = (steps: number) => addIntervals(end, steps, interval, start ?? subscription.startedAt);
  // The event that reports the next period may be late: the counter starts again without it.
  let step = 0;
  while (ends(step) <= now) step += 1;
  while (step > -maximumSteps && ends(step - 1) > now) step -= 1;
  return { since: ends(step - 1), resetsAt: ends(step) };
}

const maximumSteps = 400;

/**
 * Adds billing intervals to the end of a period. A period that started on the 31st ends in
 * February on the 28th and the next one in March on the 31st, so the day of the start decides.
 */
function addIntervals(end: Date, count: number, interval: string, start: Date | null): Date {
  if (interval === 'day' || interval === 'week') {
    return new Date(end.getTime() + count * (interval === 'week' ? 7 : 1) * dayMilliseconds);
  }
  const isCut = end.getUTCDate() === daysIn(end.getUTCFullYear(), end.getUTCMonth());
  const startDay = start?.getUTCDate() ?? 0;
  const day = isCut ? Math.max(startDay, end.getUTCDate()) : end.getUTCDate();
  const month = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + count * (interval === 'year' ? 12 : 1)));
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

export type MeterReading = {
  meter: string;
  name: string;
  used: number;
  /** Null if the plan has no limit. */
  limit: number | null;
  resets_at: string | null;
};

/** Returns every meter with an organisation's usage and its plan's limit. */
export function readingsFrom(app: App, current: OrganisationPlan, { counted, members }: UsageFacts): MeterReading[] {
  const now = app.now();
  const subscription = entitlingSubscription(current);

  return app.plans.meters.map((meter) => {
    const { since, resetsAt } = periodOf(app, meter, subscription, now);
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
