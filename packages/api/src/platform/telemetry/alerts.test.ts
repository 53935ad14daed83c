import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { counters, durations, levels } from './metrics.ts';
import { createPrometheus } from './prometheus.ts';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const rulesFile = path.join(root, 'deploy/alerts.yaml');
const rules = await readFile(rulesFile, 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name as string);
const metricNames = Object.keys({ ...counters, ...durations, ...levels });

/** Runs promtool of Debian's package prometheus and returns its output; null if it is not installed. */
function promtool(arguments_: string[], input = ''): Promise<{ code: number; output: string } | null> {
  return new Promise((resolve) => {
    const child = execFile('promtool', arguments_, (error, stdout, stderr) => {
      if (error !== null && error.code === 'ENOENT') resolve(null);
      else resolve({ code: Number(error?.code ?? 0), output: `${stdout}${stderr}` });
    });
    child.stdin?.on('error', () => {}).end(input);
  });
}

const hasPromtool = (await promtool(['--version'])) !== null;
if (!hasPromtool)
  console.log('The alerting rules are not run: promtool of Debian’s package prometheus is not installed.');

/** Series by name, in promtool's notation for one value a minute. */
type Case = { alert: string; series: Record<string, string>; labels: Record<string, string> };

const job = 'gatehouse';
const page = { severity: 'page', job };
const ticket = { severity: 'ticket', job };
const cases: Case[] = [
  { alert: 'GatehouseDown', series: {}, labels: { severity: 'page' } },
  {
    alert: 'GatehouseNodeDown',
    series: { 'up{instance="node-1"}': '1x70', 'up{instance="node-2"}': '0x70' },
    labels: { ...ticket, instance: 'node-2' },
  },
  { alert: 'GatehouseDatabaseAway', series: { gatehouse_database_up: '0x70' }, labels: page },
  {
    alert: 'GatehouseRequestsFail',
    series: {
      'gatehouse_http_request_duration_seconds_count{status="503"}': '0+3x70',
      'gatehouse_http_request_duration_seconds_count{status="200"}': '0+97x70',
    },
    labels: page,
  },
  { alert: 'GatehouseFewRequestsFail', series: {}, labels: ticket },
  {
    alert: 'GatehouseWritesRefused',
    series: { 'gatehouse_refused_writes_total{reason="disk_full"}': '0+1x70' },
    labels: { ...page, reason: 'disk_full' },
  },
  {
    alert: 'GatehouseSlow',
    series: {
      'gatehouse_http_request_duration_seconds_bucket{route="/api/session",le="2.5"}': '0+90x70',
      'gatehouse_http_request_duration_seconds_bucket{route="/api/session",le="+Inf"}': '0+100x70',
    },
    labels: ticket,
  },
  {
    alert: 'GatehouseDescriptors',
    series: {
      'process_open_fds{instance="node-1"}': '900x70',
      'process_max_fds{instance="node-1"}': '1024x70',
      'gatehouse_database_up{instance="node-1"}': '0x70',
    },
    labels: { ...ticket, instance: 'node-1' },
  },
  { alert: 'GatehouseDatabaseGrows', series: { gatehouse_database_size_bytes: '8e9+5e6x70' }, labels: ticket },
  {
    alert: 'GatehouseRequestsRefused',
    series: { 'gatehouse_overload_refusals_total{class="pages"}': '0+60x70' },
    labels: { ...page, class: 'pages' },
  },
  {
    alert: 'GatehousePoolExhausted',
    series: { 'gatehouse_database_transactions{state="waiting"}': '2x70' },
    labels: { ...page, state: 'waiting' },
  },
  {
    alert: 'GatehouseMailsWait',
    series: { 'gatehouse_jobs_oldest_waiting_seconds{kind="verification-mail"}': '0+60x70' },
    labels: page,
  },
  {
    alert: 'GatehousePaymentEventsFail',
    series: { 'gatehouse_payment_events_total{outcome="failed"}': '0+1x70' },
    labels: page,
  },
  { alert: 'GatehousePaymentEventFailed', series: {}, labels: ticket },
  {
    alert: 'GatehousePaymentEventsRefused',
    series: {
      'gatehouse_payment_events_total{outcome="refused"}': '0+1x70',
      'gatehouse_payment_events_total{outcome="applied"}': '7x70',
      'gatehouse_organisations_subscribed{tier="gold"}': '90x70',
    },
    labels: page,
  },
  {
    alert: 'GatehouseNoPaymentEvents',
    series: { gatehouse_payment_last_event_timestamp_seconds: '-90000x70' },
    labels: ticket,
  },
  {
    alert: 'GatehousePaymentWorkWaits',
    series: { 'gatehouse_jobs_oldest_waiting_seconds{kind="payment-prices"}': '0+60x70' },
    labels: { ...page, kind: 'payment-prices' },
  },
  { alert: 'GatehouseSubscriptionsOutOfDate', series: { gatehouse_subscriptions_to_sync: '3x70' }, labels: ticket },
  {
    alert: 'GatehouseJobsStopped',
    series: { 'gatehouse_job_last_success_timestamp_seconds{kind="payment-plan-times"}': '0x70' },
    labels: page,
  },
  {
    alert: 'GatehouseComparisonMissed',
    series: { 'gatehouse_job_last_success_timestamp_seconds{kind="payment-compare"}': '-180000x70' },
    labels: ticket,
  },
  {
    alert: 'GatehouseSweepMissed',
    series: { 'gatehouse_job_last_success_timestamp_seconds{kind="sweep"}': '-25000x70' },
    labels: { ...ticket, kind: 'sweep' },
  },
  {
    alert: 'GatehouseJobsGivenUp',
    series: { 'gatehouse_jobs_failed{kind="verification-mail"}': '1x70' },
    labels: { ...ticket, kind: 'verification-mail' },
  },
  {
    alert: 'GatehouseEventsFlagged',
    series: { gatehouse_payment_events_flagged: '4x40 5x40' },
    labels: ticket,
  },
  {
    alert: 'GatehouseProviderFails',
    series: {
      'gatehouse_call_duration_seconds_count{to="payment",outcome="failed"}': '0+2x70',
      'gatehouse_call_duration_seconds_count{to="payment",outcome="ok"}': '0+1x70',
    },
    labels: { ...ticket, to: 'payment' },
  },
  { alert: 'GatehouseClockSkewed', series: { gatehouse_database_clock_skew_seconds: '-9x70' }, labels: ticket },
];

/** Values of a service that works, with some failures below every alert's threshold. */
const healthy = {
  // node-2 restarts.
  'up{instance="node-1"}': '1x70',
  'up{instance="node-2"}': '1x59 0x3 1x60',
  gatehouse_database_up: '1x70',
  gatehouse_database_clock_skew_seconds: '0.2x70',
  'gatehouse_database_transactions{state="waiting"}': '0 3 0x20 2 4 0x60',
  'gatehouse_http_request_duration_seconds_count{status="500"}': '0+1x70',
  'gatehouse_http_request_duration_seconds_count{status="200"}': '0+99x70',
  // Password hashes, and the polls that wait.
  'gatehouse_http_request_duration_seconds_bucket{route="/api/login",le="1"}': '0+100x70',
  'gatehouse_http_request_duration_seconds_bucket{route="/api/login",le="+Inf"}': '0+100x70',
  'gatehouse_http_request_duration_seconds_bucket{route="/api/changes",le="+Inf"}': '0+100x70',
  // A standby answered until the connections were renewed.
  'gatehouse_refused_writes_total{reason="read_only"}': '0x30 7x40',
  'process_open_fds{instance="node-1"}': '300x70',
  'process_max_fds{instance="node-1"}': '65536x70',
  'gatehouse_database_up{instance="node-1"}': '1x70',
  gatehouse_database_size_bytes: '8e9+1e5x70',
  'gatehouse_jobs_oldest_waiting_seconds{kind="verification-mail"}': '0+60x70',
  'gatehouse_call_duration_seconds_count{to="mail",outcome="refused"}': '0+1x70',
  'gatehouse_call_duration_seconds_count{to="mail",outcome="failed"}': '0x70',
  'gatehouse_jobs_oldest_waiting_seconds{kind="payment-sync"}': '0x70',
  // One of thirty a minute fails, and is applied when it is sent again.
  'gatehouse_payment_events_total{outcome="failed"}': '0x30 1x40',
  'gatehouse_payment_events_total{outcome="refused"}': '0+1x70',
  'gatehouse_payment_events_total{outcome="applied"}': '0+30x70',
  'gatehouse_organisations_subscribed{tier="gold"}': '90x70',
  gatehouse_payment_last_event_timestamp_seconds: '0+60x70',
  'gatehouse_subscriptions_to_sync{}': '2 0 3 0 1 2 0 1 0 4 0 1 0 3 0 1 0x60',
  'gatehouse_job_last_success_timestamp_seconds{kind="payment-plan-times"}': '0+60x70',
  'gatehouse_job_last_success_timestamp_seconds{kind="payment-compare"}': '0x70',
  'gatehouse_job_last_success_timestamp_seconds{kind="sweep"}': '0x70',
  'gatehouse_jobs_failed{kind="verification-mail"}': '0x70',
  'gatehouse_jobs_failed{kind="payment-due"}': '1x70',
  gatehouse_payment_events_flagged: '4x70',
  'gatehouse_call_duration_seconds_count{to="payment",outcome="failed"}': '0+1x70',
  'gatehouse_call_duration_seconds_count{to="payment",outcome="ok"}': '0+9x70',
};

/** A metric's name with its labels and the label that Prometheus adds. */
function withJob(series: string): string {
  const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  return `${name}{${[`job="${job}"`, labels].filter(Boolean).join(',')}}`;
}

/** A test of promtool with these series and, by the name of the alert, the labels with which it fires; null if it does not. */
function testOf(series: Record<string, string>, expected: Record<string, Record<string, string> | null>) {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: withJob(name), values })),
    alert_rule_test: Object.entries(expected).map(([alertname, labels]) => ({
      alertname,
      eval_time: '65m',
      exp_alerts: labels === null ? [] : [{ exp_labels: labels, exp_annotations: annotationsOf(alertname, labels) }],
    })),
  };
}

function annotationsOf(alert: string, labels: Record<string, string>) {
  const summary = new RegExp(`- alert: ${alert}\\n[^]*?summary: (.*)`).exec(rules)?.[1] ?? '';
  return {
    summary: summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => labels[label] ?? ''),
    runbook: `docs/alerts.md#${alert.toLowerCase()}`,
  };
}

async function runTests(tests: object[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'alerts-'));
  try {
    const file = path.join(folder, 'tests.yaml');
    await writeFile(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }));
    const result = await promtool(['test', 'rules', file]);
    return result?.code === 0 ? 'passed' : (result?.output ?? '');
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe.skipIf(!hasPromtool)('with promtool', () => {
  it('fires each alert for the fault that it is about', async () => {
    expect(cases.map(({ alert }) => alert)).toEqual(alerts);
    const faults = Object.assign({}, ...cases.map(({ series }) => series));
    const firing = Object.fromEntries(cases.map(({ alert, labels }) => [alert, labels]));
    const { GatehouseDown, ...whileUp } = firing;
    const down = { 'up{instance="node-1"}': '0x70', 'up{instance="node-2"}': '0x70' };
    const whileDown = { GatehouseDown: GatehouseDown ?? null, GatehouseNodeDown: null };
    expect(await runTests([testOf(faults, whileUp), testOf(down, whileDown)])).toBe('passed');
  });

  it('fires none while the service works', async () => {
    const quiet = Object.fromEntries(alerts.map((alert) => [alert, null]));
    expect(await runTests([testOf(healthy, quiet)])).toBe('passed');
  });

  it('fires none for a stranger, a quiet customer or a single failure', async () => {
    const quiet = Object.fromEntries(alerts.map((alert) => [alert, null]));
    const few = {
      ...healthy,
      // One 500 among twelve requests an hour.
      'gatehouse_http_request_duration_seconds_count{status="500"}': '0x40 1x30',
      'gatehouse_http_request_duration_seconds_count{status="200"}': '0+0.2x70',
      // One unsigned delivery of a stranger, to a service with two customers, whose last event came two days ago.
      'gatehouse_payment_events_total{outcome="refused"}': '0x30 1x40',
      'gatehouse_payment_events_total{outcome="applied"}': '5x70',
      'gatehouse_payment_events_total{outcome="failed"}': '0x70',
      'gatehouse_organisations_subscribed{tier="gold"}': '2x70',
      gatehouse_payment_last_event_timestamp_seconds: '-172800x70',
    };
    expect(await runTests([testOf(few, quiet)])).toBe('passed');
  });

  it('exposes metrics that promtool finds nothing wrong with', async () => {
    const { text } = await createPrometheus('0.0.0').expose([]);
    expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' });
  });
});

it.each(['deploy/alerts.yaml', 'deploy/grafana-dashboard.json'])(
  '%s names existing metrics and labels',
  async (file) => {
    const text = await readFile(path.join(root, file), 'utf8');
    const named = [...text.matchAll(/\b(gatehouse_[a-z_]+?)(?:_(?:count|sum|bucket))?(?=[^a-z_])/g)];
    expect(named.length).toBeGreaterThan(10);
    for (const [, name = ''] of named) expect(metricNames).toContain(name);
  },
);

it('describes each alert in docs/alerts.md', async () => {
  const text = await readFile(path.join(root, 'docs/alerts.md'), 'utf8');
  expect([...text.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)).toEqual(alerts);
});

it('shows every series with known labels at 0 from the start', async () => {
  const { text } = await createPrometheus('0.0.0').expose([]);
  for (const series of [
    'gatehouse_payment_events_total{outcome="failed"} 0',
    'gatehouse_rate_limit_refusals_total{rule="sign-in-client"} 0',
    'gatehouse_sign_ins_total{way="identity_provider",outcome="failed"} 0',
    'gatehouse_call_duration_seconds_count{to="mail",outcome="failed"} 0',
  ]) {
    expect(text.split('\n')).toContain(series);
  }
});
