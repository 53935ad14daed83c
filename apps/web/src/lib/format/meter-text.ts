import { formatDay } from '#lib/format/dates.ts';
import { lowerFirst } from '#lib/format/tier-text.ts';
import type { Tone } from '#lib/format/tone.ts';
import type { Usage } from '#lib/subscription.ts';

/** What a meter means for the reader: from 80 % what is left, at 100 % what is refused and until when. */
export function meterText(usage: Usage, planName: string): { tone: Tone; text: string } {
  const { limit, used, resets_at } = usage;
  if (limit === null) return { tone: 'plain', text: 'No limit' };

  const left = (limit - used).toLocaleString('en-GB');
  if (used < limit * 0.8) return { tone: 'plain', text: `${left} left` };
  if (used < limit) return { tone: 'warn', text: `${left} left on ${planName}` };

  const refused = `New ${lowerFirst(usage.name)} are refused`;
  return {
    tone: 'bad',
    text: resets_at ? `${refused} until ${formatDay(resets_at)}` : `${refused} on ${planName}`,
  };
}

/** The `count` meters closest to their limits, in the given order. */
export function fullest(usage: Usage[], count: number): Usage[] {
  const share = ({ used, limit }: Usage) => (limit === null ? 0 : limit === 0 ? 1 : used / limit);
  const chosen = usage.toSorted((a, b) => share(b) - share(a)).slice(0, count);
  return usage.filter((one) => chosen.includes(one));
}
