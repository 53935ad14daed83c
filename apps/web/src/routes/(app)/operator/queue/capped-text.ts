import { formatNumber } from '#lib/format/numbers.ts';
import { countText } from '../../home-text.ts';

/** "Three", "41", and "1,000+" where counting ended at `most`. */
export function cappedText(count: number, most = Number.POSITIVE_INFINITY): string {
  return count >= most ? `${formatNumber(most)}+` : countText(count);
}

/** "41", and "1,000+" where counting ended at `most`; less the rows that a page shows beside it. */
export function cappedNumber(count: number, most: number, shown = 0): string {
  return `${formatNumber(count - shown)}${count >= most ? '+' : ''}`;
}
