import { expect, test } from 'vitest';
import { chartOf, shownHistory } from './usage-chart.ts';

const resets = null;
const calls = {
  meter: 'api_calls',
  name: 'API calls',
  used: 203,
  limit: 400,
  resets_at: '2026-12-12T00:00:00Z',
  resets,
};
const projects = { meter: 'projects', name: 'Projects', used: 2, limit: 3, resets_at: null, resets };
const since = '2026-11-10';
const historyOf = (meter: string, used: string) => ({ since, meters: [{ meter, used }] });
const heights = (chart: ReturnType<typeof chartOf>) => chart?.bars.map(({ height }) => height);

test('the bars of a gauge are its values, below a line for the limit, and any use can be seen', () => {
  const chart = chartOf({ ...projects, limit: 100 }, historyOf('projects', '0 50 1 100'));
  expect(heights(chart)).toEqual([0, 0.5, 0.04, 1]);
  expect(chart).toMatchObject({ limitHeight: 1, slots: 4, firstDay: '10 November', lastDay: 'Today' });
  expect(chartOf(projects, historyOf('projects', '1 6'))?.limitHeight).toBe(0.5);
  expect(chartOf({ ...projects, limit: null }, historyOf('projects', '1 4'))).toMatchObject({
    limitHeight: null,
    bars: [{ height: 0.25 }, { height: 1 }],
  });
});

test('the bars of a counter are its totals since it was reset, with room up to the next reset', () => {
  const chart = chartOf(calls, historyOf('api_calls', '900 800 100 0 100'));
  expect(heights(chart)).toEqual([0.25, 0.25, 0.5]);
  expect(chart).toMatchObject({ limitHeight: 1, slots: 30, firstDay: '12 November', lastDay: '11 December' });
});

test('the numbers are those of each day, and the sentence adds up a counter and says the highest value of a gauge', () => {
  const counter = chartOf(calls, historyOf('api_calls', '1000 2 201'));
  expect(counter?.days.map(({ used }) => used)).toEqual(['1,000', '2', '201']);
  expect(counter?.sentence).toBe('1,203 in total, 1,000 on the busiest day, 10 November');
  expect(chartOf(projects, historyOf('projects', '1 3 2'))?.sentence).toBe('Highest on 11 November: 3');
});

test('a meter with less than two days of use has no chart, and a period of one day no bars', () => {
  const days = (...used: number[]) => used.map((each, at) => ({ date: `2026-11-1${at}`, used: each }));
  const history = shownHistory([
    { meter: 'api_calls', days: days(0, 5) },
    { meter: 'projects', days: days(2, 2) },
  ]);
  expect(history).toEqual({ since, meters: [{ meter: 'projects', used: '2 2' }] });
  expect(chartOf(calls, history)).toBeNull();
  expect(chartOf({ ...calls, resets_at: '2026-12-11T00:00:00Z' }, historyOf('api_calls', '5 7'))?.bars).toEqual([]);
});
