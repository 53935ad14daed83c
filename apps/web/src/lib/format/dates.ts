import { perLanguage } from '#lib/language/language.ts';
import { dateTexts } from '#lib/messages/shared/dates.ts';

// Written in UTC and with the zone's name: the server and the browser must write the same words,
// and neither knows the reader's zone before the first page is there.
const day = perLanguage((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }));
const dayOfYear = perLanguage(
  (locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' }),
);
const time = perLanguage((locale) => new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' }));
const relative = perLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));

/** "3 December 2026" */
export function formatDate(iso: string): string {
  return day().format(new Date(iso));
}

/** "3 December": for a day within the next month or so, where the year is obvious. */
export function formatDay(iso: string): string {
  return dayOfYear().format(new Date(iso));
}

/** "3 December 2026, 14:02 UTC" */
export function formatDateTime(iso: string): string {
  const at = new Date(iso);
  return `${day().format(at)}, ${time().format(at)} UTC`;
}

/** "2 hours ago", "yesterday"; the date once a week has passed. */
export function formatRelativeTime(iso: string, now: string, date = formatDate(iso)): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(iso)) / 60_000);
  if (minutes < 1) return dateTexts().justNow;
  if (minutes < 60) return relative().format(-minutes, 'minute');

  const hours = Math.floor(minutes / 60);
  if (hours < 24) return relative().format(-hours, 'hour');

  const days = Math.floor(hours / 24);
  return days < 7 ? relative().format(-days, 'day') : date;
}

/** "11 minutes", "5 hours", "3 days" */
export function formatDuration(fromIso: string, toIso: string): string {
  const minutes = Math.max(0, Math.floor((Date.parse(toIso) - Date.parse(fromIso)) / 60_000));
  if (minutes < 1) return dateTexts().underAMinute;
  if (minutes < 60) return dateTexts().minutes(minutes);

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? dateTexts().hours(hours) : dateTexts().days(Math.floor(hours / 24));
}
