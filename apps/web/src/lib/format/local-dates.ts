import { locale } from '#lib/language/language.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string, kind: 'day' | 'time'): Intl.DateTimeFormat {
  const key = `${locale()} ${kind} ${zone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;

  const style = kind === 'day' ? { dateStyle: 'long' as const } : { timeStyle: 'short' as const };
  const made = new Intl.DateTimeFormat(locale(), { ...style, timeZone: zone });
  formats.set(key, made);
  return made;
}

/** "3 December 2026", the day in a time zone such as "Europe/Berlin". */
export function localDate(iso: string, zone: string): string {
  return formatOf(zone, 'day').format(new Date(iso));
}

/** "3 December 2026, 15:02": without a zone's name, because it is the reader's own. */
export function localDateTime(iso: string, zone: string): string {
  return `${localDate(iso, zone)}, ${formatOf(zone, 'time').format(new Date(iso))}`;
}
