import { perLanguage } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';
import { formatDate } from './dates.ts';

const relative = perLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));

/** "2 hours ago", "yesterday"; the date once a week has passed. */
export function formatRelativeTime(iso: string, now: string): string {
  const minutes = Math.floor((Date.parse(now) - Date.parse(iso)) / 60_000);
  if (minutes < 1) return texts('date').justNow;
  if (minutes < 60) return relative().format(-minutes, 'minute');

  const hours = Math.floor(minutes / 60);
  if (hours < 24) return relative().format(-hours, 'hour');

  const days = Math.floor(hours / 24);
  return days < 7 ? relative().format(-days, 'day') : formatDate(iso);
}

/** "11 minutes", "5 hours", "3 days" */
export function formatDuration(fromIso: string, toIso: string): string {
  const minutes = Math.max(0, Math.floor((Date.parse(toIso) - Date.parse(fromIso)) / 60_000));
  if (minutes < 1) return texts('date').underAMinute;
  if (minutes < 60) return texts('date').minutes({ count: minutes });

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? texts('date').hours({ count: hours }) : texts('date').days({ count: Math.floor(hours / 24) });
}
