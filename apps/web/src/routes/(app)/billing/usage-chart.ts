import { formatDay } from '#lib/format/dates.ts';
import { formatNumber } from '#lib/format/numbers.ts';
import { billingTexts } from '#lib/messages/app/billing.ts';
import type { Usage } from '#lib/subscription.ts';

/** The use of each meter on consecutive days, since the first one. Dates of all days would be most of the page's data. */
export type History = { meter: string; since: string; used: number[] }[];

/** A day as a bar, with its number and texts: its height as a part of the highest one, from 0 to 1. */
type Bar = { at: number; day: string; used: string; height: number };

type Chart = { usage: Usage; bars: Bar[]; sentence: string };

/** A day with any use has a bar that can be seen. */
const leastHeight = 0.04;

/** Returns a chart of each meter that was used in the last 30 days, with the sentence that says what it shows. */
export function chartsOf(usage: Usage[], history: History): Chart[] {
  return usage.flatMap((reading) => {
    const days = daysOf(history.find(({ meter }) => meter === reading.meter));
    const highest = days.reduce((most, day) => (day.used > most.used ? day : most), { date: '', used: 0 });
    if (highest.used === 0) return [];

    const bars = days.map(({ date, used }, at) => {
      const height = used === 0 ? 0 : Math.max(leastHeight, used / highest.used);
      return { at, day: formatDay(date, 'UTC'), used: formatNumber(used), height };
    });
    return [{ usage: reading, bars, sentence: sentenceOf(reading, days, highest) }];
  });
}

const dayMilliseconds = 86_400_000;

function daysOf(series: History[number] | undefined): { date: string; used: number }[] {
  if (series === undefined) return [];
  const first = Date.parse(series.since);
  return series.used.map((used, at) => ({
    date: new Date(first + at * dayMilliseconds).toISOString().slice(0, 10),
    used,
  }));
}

/** A counter adds up over the days; a gauge does not. */
function sentenceOf({ resets_at }: Usage, days: { used: number }[], highest: { date: string; used: number }): string {
  const t = billingTexts();
  const [most, day] = [formatNumber(highest.used), formatDay(highest.date, 'UTC')];
  if (resets_at === null) return t.chartOfGauge(most, day);
  return t.chartOfCounter(formatNumber(days.reduce((total, { used }) => total + used, 0)), most, day);
}
