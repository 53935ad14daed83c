import { texts } from '#lib/language/texts.ts';

/** "an hour", "15 minutes", "2 days": how long a link works, after the word "within". */
export function lifetimeText(seconds: number): string {
  const { within } = texts('date');
  const minutes = Math.round(seconds / 60);
  if (minutes === 60) return within.anHour;
  if (minutes < 120) return within.minutes({ count: minutes });

  const hours = Math.floor(minutes / 60);
  return hours < 48 ? within.hours({ count: hours }) : within.days({ count: Math.floor(hours / 24) });
}
