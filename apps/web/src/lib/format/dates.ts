// Written in UTC and with the zone's name: the server and the browser must write the same words,
// and neither knows the reader's zone before the first page is there.
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });

/** "3 December 2026" */
export function formatDate(iso: string): string {
  return day.format(new Date(iso));
}

/** "3 December": for a day within the next month or so, where the year is obvious. */
export function formatDay(iso: string): string {
  return dayOfYear.format(new Date(iso));
}

/** "3 December 2026, 14:02 UTC" */
export function formatDateTime(iso: string): string {
  const at = new Date(iso);
  return `${day.format(at)}, ${time.format(at)} UTC`;
}

/** "2 hours ago", "yesterday"; the date once a week has passed. */
export function formatRelativeTime(iso: string, now: string, date = formatDate(iso)): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(iso)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return relative.format(-minutes, 'minute');

  const hours = Math.floor(minutes / 60);
  if (hours < 24) return relative.format(-hours, 'hour');

  const days = Math.floor(hours / 24);
  return days < 7 ? relative.format(-days, 'day') : date;
}

/** "11 minutes", "5 hours", "3 days" */
export function formatDuration(fromIso: string, toIso: string): string {
  const minutes = Math.max(0, Math.floor((Date.parse(toIso) - Date.parse(fromIso)) / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return counted(minutes, 'minute');

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day');
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
