import type { App } from '../app.ts';

/**
 * A meter counts what is there ('gauge': members, projects) or what was done since
 * the month began ('counter': API calls).
 */
export type Meter = App['plans']['meters'][number];

const epoch = new Date(0);

/** From when on a meter counts. */
export function countsSince(meter: Meter, now: Date): Date {
  return meter.kind === 'gauge' ? epoch : monthStart(now, 0);
}

/** When a counting meter begins anew; never, for a standing one. */
export function resetsAt(meter: Meter, now: Date): Date | null {
  return meter.kind === 'gauge' ? null : monthStart(now, 1);
}

/** Months of the calendar in UTC, whatever is paid and when (docs/decisions/010). */
export function monthStart(now: Date, monthsLater: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthsLater, 1));
}

/** @throws Error where the plans have no such meter: a mistake of the caller. */
export function meterOf(app: App, name: string): Meter {
  const meter = app.plans.meters.find((each) => each.meter === name);
  if (meter === undefined) throw new Error(`There is no meter ${name}.`);
  return meter;
}
