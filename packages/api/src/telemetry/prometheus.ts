import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { counters, durations, levels, type Metrics } from './metrics.ts';

/** Creates metrics in their own registry, together with the default metrics of a Node process. */
export function createPrometheus(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counterMetrics = createAll(
    counters,
    (name, { help, labels }) => new Counter({ name, help, labelNames: labels, registers }),
  );
  const durationMetrics = createAll(
    durations,
    (name, { help, labels }) => new Histogram({ name, help, labelNames: labels, registers }),
  );
  const levelMetrics = createAll(
    levels,
    (name, { help, labels }) => new Gauge({ name, help, labelNames: labels, registers }),
  );

  return {
    count: (name, labels) => counterMetrics[name].inc(labels),
    time: (name, labels, seconds) => durationMetrics[name].observe(labels, seconds),
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

type Definition = { help: string; labels: readonly string[] };

function createAll<Name extends string, Metric>(
  table: Record<Name, Definition>,
  create: (name: Name, definition: { help: string; labels: string[] }) => Metric,
): Record<Name, Metric> {
  const entries = Object.entries(table) as [Name, Definition][];
  return Object.fromEntries(
    entries.map(([name, { help, labels }]) => [name, create(name, { help, labels: [...labels] })]),
  ) as Record<Name, Metric>;
}
