import { locale, perLanguage } from '#lib/language/language.ts';
import { dateTexts } from '#lib/messages/shared/dates.ts';
import { readersZone } from './readers-zone.ts';

const styles = {
  date: { dateStyle: 'long' },
  day: { day: 'numeric', month: 'long' },
  time: { timeStyle: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();
const relative = perLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));

function write(iso: string, style: keyof typeof styles, zone: string | null): string {
  const key = `${locale()} ${style} ${zone}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale(), { ...styles[style], timeZone: zone ?? 'UTC' });
    formats.set(key, format);
  }
  return format.format(new Date(iso));
}

/** "3 December 2026", in the reader's zone once it is known. */
export function formatDate(iso: string, zone = readersZone()): string {
  return write(iso, 'date', zone);
}

/** "3 December": for a day within the next month or so, where the year is obvious. */
export function formatDay(iso: string, zone = readersZone()): string {
  return write(iso, 'day', zone);
}

/** "14:02", "14:02 UTC": the zone is named where it is not the reader's own. */
export function formatTime(iso: string, zone = readersZone()): string {
  const time = write(iso, 'time', zone);
  return zone === null ? `${time} UTC` : time;
}

/** "3 December 2026, 14:02" */
export function formatDateTime(iso: string, zone = readersZone()): string {
  return `${formatDate(iso, zone)}, ${formatTime(iso, zone)}`;
}

/** "2 hours ago", "yesterday"; the date once a week has passed. */
export function formatRelativeTime(iso: string, now: string): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(iso)) / 60_000);
  if (minutes < 1) return dateTexts().justNow;
  if (minutes < 60) return relative().format(-minutes, 'minute');

  const hours = Math.floor(minutes / 60);
  if (hours < 24) return relative().format(-hours, 'hour');

  const days = Math.floor(hours / 24);
  return days < 7 ? relative().format(-days, 'day') : formatDate(iso);
}

/** "11 minutes", "5 hours", "3 days" */
export function formatDuration(fromIso: string, toIso: string): string {
  const minutes = Math.max(0, Math.floor((Date.parse(toIso) - Date.parse(fromIso)) / 60_000));
  if (minutes < 1) return dateTexts().underAMinute;
  if (minutes < 60) return dateTexts().minutes(minutes);

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? dateTexts().hours(hours) : dateTexts().days(Math.floor(hours / 24));
}
