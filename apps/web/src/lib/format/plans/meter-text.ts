import { formatDay } from '#lib/format/dates.ts';
import { formatNumber } from '#lib/format/numbers.ts';
import type { Tone } from '#lib/format/tone.ts';
import { planTexts } from '#lib/messages/app/plan.ts';
import type { Usage } from '#lib/subscription.ts';

/**
 * The text below a meter: how much is left, from 80 % as a warning, and at 100 % that the limit is
 * reached. The text of a counter also says when it resets, which is the first of a month in UTC; a
 * gauge never resets.
 */
export function meterText(usage: Usage): { tone: Tone; text: string } {
  const { tone, text } = roomText(usage);
  return { tone, text: usage.resets_at ? planTexts().resets(text, formatDay(usage.resets_at, 'UTC')) : text };
}

function roomText(usage: Usage): { tone: Tone; text: string } {
  const { limit, used, resets_at } = usage;
  const t = planTexts();
  if (limit === null) return { tone: 'plain', text: t.noLimit };
  if (used > limit) return { tone: 'bad', text: t.over(usage) };
  if (used === limit) return { tone: 'bad', text: t.reached(usage) };

  const left = formatNumber(limit - used);
  return { tone: used < limit * 0.8 ? 'plain' : 'warn', text: resets_at ? t.left(left) : t.roomFor(left) };
}

/** The `count` meters closest to their limits, in the given order. */
export function fullest(usage: Usage[], count: number): Usage[] {
  const share = ({ used, limit }: Usage) => (limit === null ? 0 : limit === 0 ? 1 : used / limit);
  const chosen = usage.toSorted((a, b) => share(b) - share(a)).slice(0, count);
  return usage.filter((one) => chosen.includes(one));
}
