import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { counters, durations, levels, type Metrics, seriesOf } from './metrics.ts';

/** Gauges of prom-client whose names end like those of counters, which `promtool check metrics` refuses. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * Creates metrics in their own registry, together with the default metrics of a Node process. Every
 * series whose labels are known exists at 0 from the start: an alert on its increase sees the first.
 */
export function createPrometheus(version: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const registers = [registry];
  const info = { version, node: process.version };
  const help = 'Always 1: the versions of Gatehouse and of Node.';
  new Gauge({ name: 'gatehouse_build_info', help, labelNames: Object.keys(info), registers }).set(info, 1);
  const counterMetrics = createAll(counters, (name, { help, labels }) => {
    const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
    for (const each of seriesOf(labels)) counter.inc(each, 0);
    return counter;
  });
  const durationMetrics = createAll(durations, (name, { help, labels }) => {
    const histogram = new Histogram({ name, help, labelNames: Object.keys(labels), registers });
    for (const each of seriesOf(labels)) histogram.zero(each);
    return histogram;
  });
  const levelMetrics = createAll(
    levels,
    (name, { help, labels }) => new Gauge({ name, help, labelNames: [...labels], registers }),
  );

  return {
    count: (name, labels) => counterMetrics[name].inc(labels as Labels),
    time: (name, labels, seconds) => durationMetrics[name].observe(labels as Labels, seconds),
    zero: (name, labels) => durationMetrics[name].zero(labels as Labels),
    async expose(read) {
      // A level that could not be read is left out: an unlabelled gauge would keep its last value, or become 0.
      for (const [name, { labels }] of Object.entries(levels)) {
        if (labels.length > 0) levelMetrics[name as keyof typeof levels].reset();
        else levelMetrics[name as keyof typeof levels].remove();
      }
      for (const { name, labels, value } of read) levelMetrics[name].set(labels, value);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

type Labels = Record<string, string>;

function createAll<Name extends string, Definition, Metric>(
  table: Record<Name, Definition>,
  create: (name: Name, definition: Definition) => Metric,
): Record<Name, Metric> {
  const entries = Object.entries(table) as [Name, Definition][];
  return Object.fromEntries(entries.map(([name, definition]) => [name, create(name, definition)])) as Record<
    Name,
    Metric
  >;
}
