import { locale } from '#lib/language/language.ts';
import { readersZone } from './readers-zone.ts';

const styles = {
  date: { dateStyle: 'long' },
  day: { day: 'numeric', month: 'long' },
  time: { timeStyle: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

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

/** Texts of calendar days, which are few and the same for every reader. A chart has thirty of them. */
const days = new Map<string, string>();
const mostDays = 1000;

function write(iso: string, style: keyof typeof styles, zone: string | null): string {
  const key = `${locale()} ${style} ${zone}`;
  if (iso.length > 10) return formatIn(key, iso, { style, zone });

  const dayKey = `${key} ${iso}`;
  const text = days.get(dayKey) ?? formatIn(key, iso, { style, zone });
  if (days.size >= mostDays) days.clear();
  days.set(dayKey, text);
  return text;
}

type Form = { style: keyof typeof styles; zone: string | null };

function formatIn(key: string, iso: string, { style, zone }: Form): string {
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale(), { ...styles[style], timeZone: zone ?? 'UTC' });
    formats.set(key, format);
  }
  return format.format(new Date(iso));
}
