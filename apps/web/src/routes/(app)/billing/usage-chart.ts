import { dayMilliseconds } from '@gatehouse/api/platform/durations';
import { formatDay } from '#lib/format/dates.ts';
import { formatNumber } from '#lib/format/numbers.ts';
import { texts } from '#lib/language/texts.ts';
import type { Usage } from '#lib/subscription.ts';

/**
 * The use of each meter on consecutive days from `since` on, as numbers with spaces between them. The dates of all
 * days, and lists of numbers, would be most of the page's data.
 */
export type UsageHistory = { since: string; meters: { meter: string; used: string }[] };

/** Returns what the page needs of the histories. A meter without use has no chart. */
export function shownHistory(histories: { meter: string; days: { date: string; used: number }[] }[]): UsageHistory {
  return {
    since: histories[0]?.days[0]?.date ?? '',
    meters: histories
      .filter(({ days }) => days.some(({ used }) => used > 0))
      .map(({ meter, days }) => ({ meter, used: days.map(({ used }) => used).join(' ') })),
  };
}

/** The bar of a day. Its height is a part of the highest bar's, from 0 to 1. */
type Bar = { index: number; day: string; used: string; height: number };

type Chart = { usage: Usage; bars: Bar[]; sentence: string };

/** The height of the lowest bar, so that a day with any use is visible. */
const minHeight = 0.04;

/** Returns a chart of each meter that was used in the last 30 days, with the sentence that says what it shows. */
export function chartsOf(usage: Usage[], { since, meters }: UsageHistory): Chart[] {
  const series = meters.map(({ meter, used }) => ({ meter, days: used.split(' ').map(Number) }));
  const dayTexts = (series[0]?.days ?? []).map((_, index) => dayAfter(since, index));

  return usage.flatMap((reading) => {
    const days = series.find(({ meter }) => meter === reading.meter)?.days;
    if (days === undefined) return [];

    const highest = Math.max(...days);
    const bars = days.map((used, index) => {
      const height = used === 0 ? 0 : Math.max(minHeight, used / highest);
      return { index, day: dayTexts[index] ?? '', used: formatNumber(used), height };
    });
    return [{ usage: reading, bars, sentence: sentenceOf(reading, days, dayTexts[days.indexOf(highest)] ?? '') }];
  });
}

function dayAfter(since: string, days: number): string {
  return formatDay(new Date(Date.parse(since) + days * dayMilliseconds).toISOString().slice(0, 10), 'UTC');
}

/** A counter adds up over the days; a gauge does not. */
function sentenceOf({ resets_at }: Usage, days: number[], busiest: string): string {
  const t = texts('billing');
  const most = formatNumber(Math.max(...days));
  if (resets_at === null) return t.chartOfGauge({ most, day: busiest });
  return t.chartOfCounter({ total: formatNumber(days.reduce((total, used) => total + used, 0)), most, day: busiest });
}
