import { formatDay } from '#lib/format/dates.ts';
import { formatNumber } from '#lib/format/numbers.ts';
import type { Tone } from '#lib/format/tone.ts';
import { texts } from '#lib/language/texts.ts';
import type { Usage } from '#lib/subscription.ts';
import { inSentence, singular } from './meter-name.ts';

/**
 * The text below a meter: how much is left, from 80 % as a warning, and at 100 % that the limit is
 * reached. The text of a counter also says when it resets, which is the first of a month in UTC; a
 * gauge never resets.
 */
export function meterText(usage: Usage): { tone: Tone; text: string } {
  const { tone, text } = roomText(usage);
  return {
    tone,
    text: usage.resets_at ? texts('plan').resets({ text, day: formatDay(usage.resets_at, 'UTC') }) : text,
  };
}

function roomText(usage: Usage): { tone: Tone; text: string } {
  const { limit, used, resets_at } = usage;
  const t = texts('plan');
  if (limit === null) return { tone: 'plain', text: t.noLimit };
  if (used > limit)
    return { tone: 'bad', text: t.over({ meter: usage.meter, name: inSentence(singular(usage.name)) }) };
  if (used === limit) return { tone: 'bad', text: t.reached({ meter: usage.meter, name: singular(usage.name) }) };

  const left = formatNumber(limit - used);
  return {
    tone: used < limit * 0.8 ? 'plain' : 'warn',
    text: resets_at ? t.left({ amount: left }) : t.roomFor({ amount: left }),
  };
}

/** The `count` meters closest to their limits, in the given order. */
export function fullest(usage: Usage[], count: number): Usage[] {
  const share = ({ used, limit }: Usage) => (limit === null ? 0 : limit === 0 ? 1 : used / limit);
  const chosen = usage.toSorted((a, b) => share(b) - share(a)).slice(0, count);
  return usage.filter((one) => chosen.includes(one));
}
