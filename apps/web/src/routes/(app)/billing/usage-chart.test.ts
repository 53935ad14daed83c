import { expect, test } from 'vitest';
import { chartsOf, shownHistory } from './usage-chart.ts';

const calls = { meter: 'api_calls', name: 'API calls', used: 1203, limit: 5000, resets_at: '2026-12-01T00:00:00Z' };
const projects = { meter: 'projects', name: 'Projects', used: 2, limit: 3, resets_at: null };
const since = '2026-11-10';

test('a chart has a bar for each day, the highest as high as the chart, and any use can be seen', () => {
  const [chart] = chartsOf([calls], { since, meters: [{ meter: 'api_calls', used: '0 1000 2 201' }] });
  expect(chart?.bars.map(({ height }) => height)).toEqual([0, 1, 0.04, 0.201]);
});

test('the sentence adds up the days of a counter, and says the highest value of a gauge', () => {
  const charts = chartsOf([calls, projects], {
    since,
    meters: [
      { meter: 'projects', used: '1 3 2' },
      { meter: 'api_calls', used: '1000 2 201' },
    ],
  });
  expect(charts.map(({ sentence }) => sentence)).toEqual([
    '1,203 in total, 1,000 on the busiest day, 10 November',
    'Highest on 11 November: 3',
  ]);
});

test('a meter that was not used has no chart', () => {
  const days = (...used: number[]) => used.map((each, at) => ({ date: `2026-11-1${at}`, used: each }));
  const history = shownHistory([
    { meter: 'api_calls', days: days(0, 0) },
    { meter: 'projects', days: days(0, 2) },
  ]);
  expect(history).toEqual({ since, meters: [{ meter: 'projects', used: '0 2' }] });
  expect(chartsOf([calls, projects], history).map(({ usage }) => usage.meter)).toEqual(['projects']);
});
