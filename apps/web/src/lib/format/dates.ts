import { locale } from '#lib/language/language.ts';
import { userTimeZone } from './time-zone.ts';

const styles = {
  date: { dateStyle: 'long' },
  day: { day: 'numeric', month: 'long' },
  time: { timeStyle: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

/** "3 December 2026", in the user's time zone once it is known. */
export function formatDate(iso: string, zone = userTimeZone()): string {
  return write(iso, 'date', zone);
}

/** "3 December": for a day within the next month or so, where the year is obvious. */
export function formatDay(iso: string, zone = userTimeZone()): string {
  return write(iso, 'day', zone);
}

/** "14:02", "14:02 UTC": UTC is named while the user's time zone is unknown. */
export function formatTime(iso: string, zone = userTimeZone()): string {
  const time = write(iso, 'time', zone);
  return zone === null ? `${time} UTC` : time;
}

/** "3 December 2026, 14:02" */
export function formatDateTime(iso: string, zone = userTimeZone()): string {
  return `${formatDate(iso, zone)}, ${formatTime(iso, zone)}`;
}

function write(iso: string, style: keyof typeof styles, zone: string | null): string {
  const key = `${locale()} ${style} ${zone}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale(), { ...styles[style], timeZone: zone ?? 'UTC' });
    formats.set(key, format);
  }
  return format.format(new Date(iso));
}
