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

/** Returns what the page needs of the histories. A meter that was not used before today has no chart. */
export function shownHistory(histories: { meter: string; days: { date: string; used: number }[] }[]): UsageHistory {
  return {
    since: histories[0]?.days[0]?.date ?? '',
    meters: histories
      .filter(({ days }) => days.slice(0, -1).some(({ used }) => used > 0))
      .map(({ meter, days }) => ({ meter, used: days.map(({ used }) => used).join(' ') })),
  };
}

/** The bar of a day. Its height is a part of the chart's, from 0 to 1. */
type Bar = { index: number; height: number };

export type Chart = {
  usage: Usage;
  /** What a bar stands for can be compared with the limit: a gauge's value, and a counter's total in its period. */
  bars: Bar[];
  /** For how many bars there is room: up to the day on which a counter resets. */
  slots: number;
  /** The height of the line for the limit, from 0 to 1; null without a limit. */
  limitHeight: number | null;
  firstDay: string;
  lastDay: string;
  /** The use of each of the last 30 days, for the table. */
  days: { day: string; used: string }[];
  sentence: string;
};

/** The height of the lowest bar, so that any use is visible. */
const minHeight = 0.04;

/** Returns the chart of a meter; null where there is too little to show. */
export function chartOf(usage: Usage, { since, meters }: UsageHistory): Chart | null {
  const used = meters
    .find(({ meter }) => meter === usage.meter)
    ?.used.split(' ')
    .map(Number);
  if (used === undefined) return null;

  const dates = used.map((_, index) => dateAfter(since, index));
  const { values, slots } = shownValues(usage, used, dates);
  const top = Math.max(...values, usage.limit ?? 0, 1);
  const busiest = dates[used.indexOf(Math.max(...used))] ?? since;
  const first = dates[dates.length - values.length] ?? since;
  return {
    usage,
    // A single bar says no more than the meter above it.
    bars: values.length < 2 ? [] : values.map((value, index) => ({ index, height: heightOf(value, top) })),
    slots,
    limitHeight: usage.limit === null ? null : usage.limit / top,
    firstDay: formatDay(first, 'UTC'),
    lastDay: usage.resets_at === null ? texts('billing').today : formatDay(dateAfter(first, slots - 1), 'UTC'),
    days: used.map((amount, index) => ({ day: formatDay(dates[index] ?? since, 'UTC'), used: formatNumber(amount) })),
    sentence: sentenceOf(usage, used, formatDay(busiest, 'UTC')),
  };
}

/** A gauge's values of 30 days, or a counter's totals on each day of its period so far. */
function shownValues({ resets_at }: Usage, used: number[], dates: string[]): { values: number[]; slots: number } {
  if (resets_at === null) return { values: used, slots: used.length };
  const end = new Date(resets_at);
  const start = new Date(end);
  start.setUTCMonth(end.getUTCMonth() - 1);
  const inPeriod = used.slice(dates.findIndex((date) => date >= start.toISOString().slice(0, 10)));
  let total = 0;
  return {
    values: inPeriod.map((amount) => {
      total += amount;
      return total;
    }),
    slots: Math.max(inPeriod.length, Math.round((end.getTime() - start.getTime()) / dayMilliseconds)),
  };
}

function heightOf(value: number, top: number): number {
  return value === 0 ? 0 : Math.max(minHeight, value / top);
}

/** The date that many days after another one, as `2026-12-03`. */
function dateAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMilliseconds).toISOString().slice(0, 10);
}

/** A counter adds up over the days; a gauge does not. */
function sentenceOf({ resets_at }: Usage, days: number[], busiest: string): string {
  const t = texts('billing');
  const most = formatNumber(Math.max(...days));
  if (resets_at === null) return t.chartOfGauge({ most, day: busiest });
  return t.chartOfCounter({ total: formatNumber(days.reduce((total, used) => total + used, 0)), most, day: busiest });
}
