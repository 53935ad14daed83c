import { formatDate } from '#lib/format/dates.ts';
import { memberTexts } from '#lib/messages/app/members.ts';

const dayMs = 86_400_000;

/** "Today", "Yesterday", "3 December 2026": the service knows the hour at most, and a page need not tell it. Days in UTC. */
export function lastSeenText(iso: string, now: string): string {
  const days = Math.floor(Date.parse(now) / dayMs) - Math.floor(Date.parse(iso) / dayMs);
  if (days <= 0) return memberTexts().today;
  return days === 1 ? memberTexts().yesterday : formatDate(iso);
}
