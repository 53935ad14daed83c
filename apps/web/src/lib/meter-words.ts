import { dateInWords } from '#lib/dates.ts';
import type { Usage } from '#lib/subscription.ts';
import { lowerFirst } from '#lib/tier-words.ts';
import type { Tone } from '#lib/tone.ts';

/** What a meter means for its reader: at 80 % what is left, at 100 % what it stops and until when. */
export function meterInWords(usage: Usage, planName: string): { tone: Tone; text: string } {
  const { limit, used, resets_at } = usage;
  if (limit === null) return { tone: 'plain', text: 'No limit' };

  const left = (limit - used).toLocaleString('en-GB');
  if (used < limit * 0.8) return { tone: 'plain', text: `${left} left` };
  if (used < limit) return { tone: 'warn', text: `${left} left on ${planName}` };

  const refused = `New ${lowerFirst(usage.name)} are refused`;
  return { tone: 'bad', text: resets_at ? `${refused} until ${dateInWords(resets_at)}` : `${refused} on ${planName}` };
}
