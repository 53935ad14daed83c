import type { Target } from './load.ts';

type ProbeRequest = { path: string; status: number; init?: RequestInit };
export type Answer = { path: string; status: number; isExpected: boolean; milliseconds: number };

/** Returns the requests that an overload or a flood must not affect, with their status. */
export function probeRequests({ owners }: Target): ProbeRequest[] {
  return [
    { path: '/healthz', status: 200 },
    { path: '/readyz', status: 200 },
    { path: '/api/session', status: 200, init: { headers: { cookie: `session=${owners[0]?.session}` } } },
    { path: '/webhooks/payment', status: 400, init: { method: 'POST', body: '{}' } },
  ];
}

/** Sends all of these requests at once. */
export function probe(target: Target): Promise<Answer[]> {
  return Promise.all(
    probeRequests(target).map(async ({ path, status: expected, init }) => {
      const started = performance.now();
      const response = await fetch(target.origin + path, init).catch(() => null);
      await response?.arrayBuffer();
      const status = response?.status ?? 0;
      return { path, status, isExpected: status === expected, milliseconds: performance.now() - started };
    }),
  );
}

export function longestOf(answers: Answer[]): number {
  return Math.max(...answers.map(({ milliseconds }) => milliseconds));
}

/** Returns the times and failures of one path, in one line. */
export function describe(path: string, all: Answer[]): string {
  const answers = all.filter((each) => each.path === path);
  const sorted = answers.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
  const percentile = (share: number) => `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0)} ms`;
  const failed = answers.filter(({ isExpected }) => !isExpected);
  const statuses = [...new Set(failed.map(({ status }) => status))].join(', ');
  const failures = failed.length === 0 ? 'none failed' : `${failed.length} failed (${statuses})`;
  return `meanwhile ${path}: ${answers.length} answers, median ${percentile(0.5)}, p99 ${percentile(0.99)}, longest ${longestOf(answers).toFixed(0)} ms; ${failures}`;
}
