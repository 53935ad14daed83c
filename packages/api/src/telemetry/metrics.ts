type Definition = { help: string; labels: readonly string[] };

/** Counters of events since the process started. */
export const counters = {
  gatehouse_sign_ins_total: {
    help: 'Sign-ins by way (password, identity_provider) and outcome: ok, or why not.',
    labels: ['way', 'outcome'],
  },
  gatehouse_sign_ups_total: {
    help: 'Sign-ups taken, by way. Those of known addresses count as well.',
    labels: ['way'],
  },
  gatehouse_verifications_total: {
    help: 'Verification links opened, by outcome: confirmed, password_offered, address_changed, change_offered, dead.',
    labels: ['outcome'],
  },
  gatehouse_payment_events_total: {
    help: 'Events of the payment provider by what became of them: the outcomes of /operator/events, duplicate, refused (not signed by the provider), failed (will be sent again).',
    labels: ['outcome'],
  },
  gatehouse_rate_limit_refusals_total: { help: 'Requests refused by a rate limit, by rule.', labels: ['rule'] },
} as const satisfies Record<string, Definition>;

/** Histograms of durations, in seconds. */
export const durations = {
  gatehouse_http_request_duration_seconds: {
    help: 'Requests by method, pattern of the route and status, until the answer begins.',
    labels: ['method', 'route', 'status'],
  },
  gatehouse_call_duration_seconds: {
    help: 'Calls to others (payment, identity, mail: one for each mail) by outcome: ok, refused (they said no), failed (no answer, or none that can be used).',
    labels: ['to', 'outcome'],
  },
  gatehouse_job_duration_seconds: {
    help: 'Jobs that this process worked on, by kind and outcome: ok, failed (tried again later, up to a limit).',
    labels: ['job', 'outcome'],
  },
  gatehouse_database_statement_duration_seconds: {
    help: 'Statements by outcome, the wait for a connection included.',
    labels: ['outcome'],
  },
} as const satisfies Record<string, Definition>;

/** Gauges, read when the metrics are scraped. */
export const levels = {
  gatehouse_database_up: { help: '1 where the database answered this scrape within its time, else 0.', labels: [] },
  gatehouse_database_pool_size: { help: 'Connections that this process may open (DATABASE_POOL).', labels: [] },
  gatehouse_database_statements: { help: 'Statements sent or waiting for a connection.', labels: [] },
  gatehouse_database_transactions: {
    help: 'Transactions by state: open (each holds a connection), waiting (for one).',
    labels: ['state'],
  },
  gatehouse_password_hashes_waiting: { help: 'Password hashes that wait for a free core.', labels: [] },
  gatehouse_jobs_waiting: {
    help: 'Jobs that wait or will be tried again, by kind. Of the whole service, not of this process.',
    labels: ['job'],
  },
  gatehouse_jobs_oldest_waiting_seconds: {
    help: 'Age of the oldest job that waits, by kind. Of the whole service.',
    labels: ['job'],
  },
  gatehouse_jobs_failed: {
    help: 'Jobs of the last day that were given up, by kind. Of the whole service.',
    labels: ['job'],
  },
  gatehouse_subscriptions_to_sync: {
    help: 'Subscriptions whose row the payment provider has to be asked about. Of the whole service.',
    labels: [],
  },
  gatehouse_payment_last_event_timestamp_seconds: {
    help: 'When the last event of the payment provider was stored. Of the whole service.',
    labels: [],
  },
  gatehouse_organisations_awaiting_approval: {
    help: 'Organisations whose owner has confirmed the address and waits for an operator. Of the whole service.',
    labels: [],
  },
} as const satisfies Record<string, Definition>;

type Labels<Table extends Record<string, Definition>, Name extends keyof Table> = Record<
  Table[Name]['labels'][number],
  string
>;

/** A value of a gauge. Labels have a bounded number of values: a kind, never an id, an address or a name. */
export type Level = {
  [Name in keyof typeof levels]: { name: Name; labels: Labels<typeof levels, Name>; value: number };
}[keyof typeof levels];

export type Exposition = { contentType: string; text: string };

export type Metrics = {
  count: <Name extends keyof typeof counters>(name: Name, labels: Labels<typeof counters, Name>) => void;
  time: <Name extends keyof typeof durations>(
    name: Name,
    labels: Labels<typeof durations, Name>,
    seconds: number,
  ) => void;
  /** Renders all metrics, with these levels, in Prometheus text format. */
  expose: (current: Level[]) => Promise<Exposition>;
};

export const noMetrics: Metrics = {
  count() {},
  time() {},
  expose: async () => ({ contentType: 'text/plain', text: '' }),
};
