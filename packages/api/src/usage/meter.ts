import type { App } from '../app.ts';

/**
 * A 'gauge' holds a level (members, projects). A 'counter' counts since the start of the
 * month (API calls).
 */
export type Meter = App['plans']['meters'][number];

const epoch = new Date(0);

/** Returns the time from which a meter counts. */
export function countsSince(meter: Meter, now: Date): Date {
  return meter.kind === 'gauge' ? epoch : monthStart(now, 0);
}

/** Returns when a counter resets; null for a gauge. */
export function resetsAt(meter: Meter, now: Date): Date | null {
  return meter.kind === 'gauge' ? null : monthStart(now, 1);
}

/** Returns the start of a calendar month in UTC, independent of the paid period (docs/decisions/010). */
export function monthStart(now: Date, monthsLater: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsLater, 1));
}

/** Returns a meter by its name. @throws Error if the plans have no such meter, which is a bug of the caller. */
export function meterOf(app: App, name: string): Meter {
  const meter = app.plans.meters.find((each) => each.meter === name);
  if (meter === undefined) throw new Error(`There is no meter ${name}.`);
  return meter;
}
