import { formatDay } from '#lib/format/dates.ts';
import { lowerFirst, singular } from '#lib/format/tier-text.ts';
import type { Tone } from '#lib/format/tone.ts';
import type { Usage } from '#lib/subscription.ts';

/**
 * What a meter means for the reader: how much is left, from 80 % as a warning, at 100 % that the
 * limit is reached. A counter also says when it resets; a gauge never resets.
 */
export function meterText(usage: Usage): { tone: Tone; text: string } {
  const { tone, text } = roomText(usage);
  return { tone, text: usage.resets_at ? `${text}, resets ${formatDay(usage.resets_at)}` : text };
}

function roomText({ name, limit, used, resets_at }: Usage): { tone: Tone; text: string } {
  if (limit === null) return { tone: 'plain', text: 'No limit' };
  if (used > limit) return { tone: 'bad', text: `Over the ${lowerFirst(singular(name))} limit` };
  if (used === limit) return { tone: 'bad', text: `${singular(name)} limit reached` };

  const left = (limit - used).toLocaleString('en-GB');
  return { tone: used < limit * 0.8 ? 'plain' : 'warn', text: resets_at ? `${left} left` : `Room for ${left} more` };
}

/** The `count` meters closest to their limits, in the given order. */
export function fullest(usage: Usage[], count: number): Usage[] {
  const share = ({ used, limit }: Usage) => (limit === null ? 0 : limit === 0 ? 1 : used / limit);
  const chosen = usage.toSorted((a, b) => share(b) - share(a)).slice(0, count);
  return usage.filter((one) => chosen.includes(one));
}
