import type { Texts } from '@gatehouse/languages/generated/texts';

// In milliseconds, as `Date` counts: for times before or after `app.now()`.
export const minuteMilliseconds = 60_000;
export const hourMilliseconds = 60 * minuteMilliseconds;
export const dayMilliseconds = 24 * hourMilliseconds;

// In seconds, as the job queue, cookies and the payment provider count.
export const hourSeconds = 3600;
export const daySeconds = 24 * hourSeconds;
export const yearSeconds = 365 * daySeconds;

/** Returns the date of a second since 1970, as the payment provider gives times; null for none. */
export function dateOfSecond(second: number | null): Date | null {
  return second === null ? null : new Date(second * 1000);
}

const firstTime = Date.parse('0001-01-01T00:00:00Z');
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

/** Returns the time, or the nearest one that the database reads in ISO 8601: it knows no year 0, and none after 9999. */
export function storableTime(milliseconds: number): Date {
  return new Date(Math.min(Math.max(milliseconds, firstTime), lastTime));
}

/** Returns the end of a day in UTC, which is written as 2026-12-31. */
export function endOfDay(day: string): Date {
  return storableTime(Date.parse(day) + dayMilliseconds);
}

/** "an hour", "15 minutes", "2 days": how long a link works, after the word "within". Rounded down, so that it holds. */
export function lifetimeText(within: Texts['date']['within'], seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes === 60) return within.anHour;
  if (minutes < 120) return within.minutes({ count: minutes });

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? within.hours({ count: hours }) : within.days({ count: Math.floor(hours / 24) });
}
