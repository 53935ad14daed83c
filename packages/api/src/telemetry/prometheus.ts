import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { counters, durations, levels, type Metrics } from './metrics.ts';

/** Metrics in a registry of their own, beside what there is to know of every Node process. */
export function createPrometheus(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counting = made(
    counters,
    (name, { help, labels }) => new Counter({ name, help, labelNames: labels, registers }),
  );
  const timing = made(
    durations,
    (name, { help, labels }) => new Histogram({ name, help, labelNames: labels, registers }),
  );
  const level = made(levels, (name, { help, labels }) => new Gauge({ name, help, labelNames: labels, registers }));

  return {
    count: (name, labels) => counting[name].inc(labels),
    time: (name, labels, seconds) => timing[name].observe(labels, seconds),
    async expose(read) {
      // What could not be read this time must not be told from the last: an unlabelled one would stay, or become 0.
      for (const [name, { labels }] of Object.entries(levels)) {
        if (labels.length > 0) level[name as keyof typeof levels].reset();
        else level[name as keyof typeof levels].remove();
      }
      for (const { name, labels, value } of read) level[name].set(labels, value);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

type Definition = { help: string; labels: readonly string[] };

function made<Name extends string, Metric>(
  table: Record<Name, Definition>,
  make: (name: Name, definition: { help: string; labels: string[] }) => Metric,
): Record<Name, Metric> {
  const entries = Object.entries(table) as [Name, Definition][];
  return Object.fromEntries(
    entries.map(([name, { help, labels }]) => [name, make(name, { help, labels: [...labels] })]),
  ) as Record<Name, Metric>;
}
