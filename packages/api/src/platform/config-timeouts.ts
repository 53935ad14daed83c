export type Timeouts = typeof timeouts;

/** How long the service waits for others. No variable changes these; tests shorten them. */
export const timeouts = {
  mailConnectSeconds: 10,
  /** How long a connected mail server may be silent, as while it scans a mail before it answers the mail's end. */
  mailIdleSeconds: 60,
  /** How often a node looks whether a mail server that was away is back. */
  mailReturnSeconds: 15,
  /** For an answer of the identity provider, with its body. */
  identityProviderSeconds: 10,
  /** For the look-up of a new password among breached ones, which a user waits for and which may fail. */
  breachedPasswordsSeconds: 2,
  /** For another billing job or action of the same organisation to end, while a job waits for it. */
  leaseSeconds: 20,
  /** For all of a billing action that a user waits for: the lease and every request to the provider. */
  actionSeconds: 8,
  /** For an answer of the database to a statement of a request. */
  statementSeconds: 6,
  /** For this time without a failure, before the log says that the database is available again. */
  databaseQuietSeconds: 15,
  /** For a statement and a transaction of an admin command, which may concern every row. */
  commandSeconds: 3600,
  /** For a statement and a transaction of the job queue or a scheduled job, which works in small steps on any number of rows. */
  backgroundStatementSeconds: 60,
  backgroundTransactionSeconds: 300,
  /** For the end of a transaction of a request. */
  transactionSeconds: 30,
  /** For a connection to the database, while all are in use. */
  connectionQueueSeconds: 6,
  /** How often a worker looks for jobs of other processes. At least half a second. */
  jobPollSeconds: 2,
  /** Before the first retry of a failed job. Later pauses double. */
  jobRetrySeconds: 2,
};
