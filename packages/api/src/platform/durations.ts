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

/** "an hour", "15 minutes", "2 days": how long a link works, after the word "within". Rounded down, so that it holds. */
export function lifetimeText(within: Texts['date']['within'], seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes === 60) return within.anHour;
  if (minutes < 120) return within.minutes({ count: minutes });

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? within.hours({ count: hours }) : within.days({ count: Math.floor(hours / 24) });
}
