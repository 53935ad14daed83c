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
