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

/** A cache of the texts of calendar days, which are few and the same for all users. A chart has thirty of them. */
const dayTexts = new Map<string, string>();
const maxDayTexts = 1000;

function write(iso: string, style: keyof typeof styles, zone: string | null): string {
  const key = `${locale()} ${style} ${zone}`;
  if (iso.length > 10) return formatIn(key, iso, { style, zone });

  const dayKey = `${key} ${iso}`;
  const text = dayTexts.get(dayKey) ?? formatIn(key, iso, { style, zone });
  if (dayTexts.size >= maxDayTexts) dayTexts.clear();
  dayTexts.set(dayKey, text);
  return text;
}

type DateFormat = { style: keyof typeof styles; zone: string | null };

function formatIn(key: string, iso: string, { style, zone }: DateFormat): string {
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale(), { ...styles[style], timeZone: zone ?? 'UTC' });
    formats.set(key, format);
  }
  return format.format(new Date(iso));
}
