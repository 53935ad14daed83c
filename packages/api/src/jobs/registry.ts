import type { Transaction } from '../db/client.ts';

/** Every kind of job with its data. A name that is not here does not compile. */
export type JobData = {
  /** Mails a verification link: for a sign-up, a resend, or a change of address (then with the user and session). */
  'verification-mail':
    | { email: string; signUpId?: string; fromKnownBrowser?: boolean }
    | { email: string; userId: string; sessionId: string };
  /** Deletes what has expired. */
  sweep: object;
  /** Fetches one subscription from the payment provider. */
  'payment-sync': { subscriptionId: string };
  /** Looks up what the tiers cost. */
  'payment-prices': object;
  /** Brings the portal's configuration to the present prices. */
  'payment-portal': object;
  /** Enqueues a sync of every subscription that needs one. */
  'payment-due': object;
  /** Applies the events that the provider could not deliver. */
  'payment-undelivered': object;
  /** Compares all subscriptions with the provider. */
  'payment-compare': object;
  /** Deletes old events. */
  'payment-sweep': object;
};

export type JobName = keyof JobData;

/** Also receives the job's id, which is stable across retries. */
export type JobHandler<Data> = (data: Data, id: string) => Promise<void>;

/** What a queue does with its jobs. Times in seconds. */
export type JobKind<Data> = {
  handler: JobHandler<Data>;
  /** How often a failing job is tried again, with growing pauses up to `retryDelayMax`. */
  retryLimit?: number;
  retryDelay?: number;
  retryDelayMax?: number;
  /** 'exclusive': at most one queued or running per singletonKey; 'short': at most one queued. */
  policy?: 'standard' | 'short' | 'exclusive' | 'stately' | 'singleton';
  /** A cron expression, for a job that starts at fixed times. */
  schedule?: string;
  concurrency?: number;
};

export type JobKinds = { [Name in JobName]: JobKind<JobData[Name]> };

export type Jobs = {
  /** Enqueues within the caller's transaction: a rolled-back one delivers nothing. */
  send: <Name extends JobName>(
    tx: Transaction,
    name: Name,
    data: JobData[Name],
    options?: { key?: string; afterSeconds?: number },
  ) => Promise<void>;
  /** Wakes this process's worker of a queue now, after the transaction that enqueued has committed. */
  wake: (name: JobName) => void;
  stop: () => Promise<void>;
};
