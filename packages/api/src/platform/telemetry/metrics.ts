import { ruleNames } from '../security/throttle.ts';

/** The labels of a metric, each with the values that exist from the start; none where only requests show them. */
type Definition = { help: string; labels: Record<string, readonly string[]> };

const ways = ['password', 'passkey', 'identity_provider'] as const;

/** Counters of events since the process started. */
export const counters = {
  gatehouse_sign_ins_total: {
    help: 'Sign-ins by way (password, passkey, identity_provider) and outcome: ok, or the code of the error.',
    labels: { way: ways, outcome: ['ok', 'unauthenticated', 'too_many', 'busy', 'failed'] as readonly string[] },
  },
  gatehouse_sign_ups_total: {
    help: 'Sign-ups taken, by way. Those of known addresses count as well.',
    labels: { way: ways },
  },
  gatehouse_verifications_total: {
    help: 'Verification links opened, by outcome: confirmed, password_offered, address_changed, change_offered, dead.',
    labels: { outcome: ['confirmed', 'password_offered', 'address_changed', 'change_offered', 'dead'] },
  },
  gatehouse_payment_events_total: {
    help: 'Events of the payment provider by outcome: those of /operator/events, duplicate, refused (not signed by the provider), failed (will be sent again).',
    labels: {
      outcome: [
        'applied',
        'noted',
        'ignored',
        'other_mode',
        'not_ours',
        'unknown_organisation',
        'contradiction',
        'unreadable',
        'duplicate',
        'refused',
        'failed',
      ],
    },
  },
  gatehouse_rate_limit_refusals_total: {
    help: 'Requests refused by a rate limit, by rule.',
    labels: { rule: ruleNames },
  },
  gatehouse_refused_writes_total: {
    help: 'Writes that the database refused while it still read, by reason: disk_full, read_only (a standby, or set so).',
    labels: { reason: ['disk_full', 'read_only'] },
  },
  gatehouse_overload_refusals_total: {
    help: 'Requests answered 503 because too many of their class were open: probes, webhooks, polls (of /api/changes), api, pages. They are in no other metric.',
    labels: { class: ['probes', 'webhooks', 'polls', 'api', 'pages'] as readonly string[] },
  },
} as const satisfies Record<string, Definition>;

/** Histograms of durations, in seconds. */
export const durations = {
  gatehouse_http_request_duration_seconds: {
    help: 'Requests by method, pattern of the route and status, until the answer begins.',
    labels: { method: [], route: [], status: [] },
  },
  gatehouse_call_duration_seconds: {
    help: 'Calls to others (payment, identity, mail: one for each mail, breached_passwords) by outcome: ok, refused (the other system answered with a refusal), failed (no answer, or none that can be used).',
    labels: { to: ['payment', 'identity', 'mail', 'breached_passwords'], outcome: ['ok', 'refused', 'failed'] },
  },
  gatehouse_job_duration_seconds: {
    help: 'Jobs that this process worked on, by kind and outcome: ok, failed (tried again later, up to a limit).',
    labels: { kind: [], outcome: ['ok', 'failed'] },
  },
  gatehouse_database_statement_duration_seconds: {
    help: 'Statements by outcome, the wait for a connection included.',
    labels: { outcome: ['ok', 'failed'] },
  },
} as const satisfies Record<string, Definition>;

/** Gauges, read when the metrics are scraped. */
export const levels = {
  gatehouse_database_up: { help: '1 where the database answered this scrape within its time, else 0.', labels: [] },
  gatehouse_database_size_bytes: {
    help: 'The size of the database with its indexes. Of the whole service.',
    labels: [],
  },
  gatehouse_database_clock_skew_seconds: {
    help: 'The clock of the database minus the clock of this process.',
    labels: [],
  },
  gatehouse_database_pool_size: { help: 'Connections that this process may open (DATABASE_POOL).', labels: [] },
  gatehouse_database_statements: { help: 'Statements sent or waiting for a connection.', labels: [] },
  gatehouse_database_transactions: {
    help: 'Transactions by state: open (each holds a connection), waiting (for one).',
    labels: ['state'],
  },
  gatehouse_password_hashes_waiting: { help: 'Password hashes that wait for a free core.', labels: [] },
  gatehouse_jobs_waiting: {
    help: 'Jobs that wait or will be tried again, by kind. Of the whole service, not of this process.',
    labels: ['kind'],
  },
  gatehouse_jobs_oldest_waiting_seconds: {
    help: 'Age of the oldest job that waits, by kind; 0 if none waits. Of the whole service.',
    labels: ['kind'],
  },
  gatehouse_jobs_failed: {
    help: 'Jobs of the last day that were given up, by kind. Of the whole service.',
    labels: ['kind'],
  },
  gatehouse_job_last_success_timestamp_seconds: {
    help: 'When a job of this kind last succeeded, or was first started, for kinds that keep the data up to date. Of the whole service.',
    labels: ['kind'],
  },
  gatehouse_subscriptions_to_sync: {
    help: 'Subscriptions whose row the payment provider has to be asked about. Of the whole service.',
    labels: [],
  },
  gatehouse_payment_last_event_timestamp_seconds: {
    help: 'When the last event of the payment provider was stored. Of the whole service.',
    labels: [],
  },
  gatehouse_payment_prices_looked_up_timestamp_seconds: {
    help: 'When the prices of all tiers were last read from the payment provider. Of the whole service.',
    labels: [],
  },
  gatehouse_payment_events_flagged: {
    help: 'Stored events of the last 30 days that an operator should look at. Of the whole service.',
    labels: [],
  },
  gatehouse_organisations_awaiting_approval: {
    help: 'Organisations whose owner has confirmed the address and waits for an operator. Of the whole service.',
    labels: [],
  },
  gatehouse_organisations_subscribed: {
    help: 'Organisations with a subscription that has not ended, by tier; counted once a minute. Of the whole service.',
    labels: ['tier'],
  },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>;

type Labels<Table extends Record<string, Definition>, Name extends keyof Table> = {
  [Label in keyof Table[Name]['labels']]: Table[Name]['labels'][Label] extends readonly []
    ? string
    : Table[Name]['labels'][Label][number];
};

type LevelLabels<Name extends keyof typeof levels> = Record<(typeof levels)[Name]['labels'][number], string>;

/** A value of a gauge. Labels have a bounded number of values: a kind, never an id, an address or a name. */
export type Level = {
  [Name in keyof typeof levels]: { name: Name; labels: LevelLabels<Name>; value: number };
}[keyof typeof levels];

export type Exposition = { contentType: string; text: string };

export type Metrics = {
  count: <Name extends keyof typeof counters>(name: Name, labels: Labels<typeof counters, Name>) => void;
  time: <Name extends keyof typeof durations>(
    name: Name,
    labels: Labels<typeof durations, Name>,
    seconds: number,
  ) => void;
  /** Makes a histogram's series exist at 0, for label values that are known only at the start of the service. */
  zero: <Name extends keyof typeof durations>(name: Name, labels: Labels<typeof durations, Name>) => void;
  /** Renders all metrics, with these levels, in Prometheus text format. */
  expose: (current: Level[]) => Promise<Exposition>;
};

export const noMetrics: Metrics = {
  count() {},
  time() {},
  zero() {},
  expose: async () => ({ contentType: 'text/plain', text: '' }),
};

/** Every combination of the values of these labels; none if a label's values are not known beforehand. */
export function seriesOf(labels: Definition['labels']): Record<string, string>[] {
  let series: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    series = series.flatMap((each) => values.map((value) => ({ ...each, [label]: value })));
  }
  return series;
}
