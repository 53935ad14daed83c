import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import { formatDate } from '#lib/format/dates.ts';
import { texts } from '#lib/language/texts.ts';

/** "Today", "Yesterday", "3 December 2026": the service stores the time to the hour, and pages show the day. */
export function lastSeenText(iso: string, now: string): string {
  const day = formatDate(iso);
  if (Date.parse(iso) >= Date.parse(now) || day === formatDate(now)) return texts('member').today;
  return day === formatDate(new Date(Date.parse(now) - dayMilliseconds).toISOString())
    ? texts('member').yesterday
    : day;
}
