import type { Transaction } from '../db/client.ts';

/**
 * Every kind of job with its data. An unknown name does not compile. A job that mails something is added by the file
 * that sends the mail (`declare module`). Its name ends in -mail, and its data name the user or address: by these, an
 * erasure and a restored backup find it (`dropMails`).
 */
export interface JobData {
  /** Deletes what has expired, erases old declined requests and rotates the keys that sign tokens. */
  sweep: object;
  /** Encrypts under the first key of SECRET_KEY what an older one encrypted. */
  'encrypt-anew': object;
  /** Deletes changes that are no longer kept. */
  'changes-sweep': object;
  /** Decides the plans anew that changed by time alone. */
  'payment-plan-times': object;
  /** Decides every plan anew after a start with other plans or another grace: on a node that has the same. */
  'payment-plans': { rules: string };
  /** Stores yesterday's number of members for the history of usage. */
  'usage-days': object;
  /** Deletes expired idempotency keys and old history. */
  'usage-sweep': object;
  /** Fetches one subscription from the payment provider. */
  'payment-sync': { subscriptionId: string };
  /** Brings an organisation's billing name and e-mail address, here and at the payment provider, together. */
  'payment-contact': { organisationId: string };
  /** Lets a payment method that a customer saved be the one that is charged, and pays what is open. */
  'payment-card': { organisationId: string; customerId: string; methodId: string; savedAt: number };
  /** Expires the open checkouts of an organisation with a started subscription. */
  'payment-checkouts': { organisationId: string };
  /** Reads the prices of the tiers from the provider and stores them. */
  'payment-prices': object;
  /** Finds the organisation of a dispute, a refund or a warning, which names a payment alone. */
  'payment-owner': { eventId: string };
  /** Updates the portal's configuration to the current prices. */
  'payment-portal': object;
  /** Enqueues the due syncs of subscriptions, pushes of billing e-mail addresses and closings of checkouts. */
  'payment-due': object;
  /** Applies the events that the provider could not deliver. */
  'payment-undelivered': object;
  /** Compares all subscriptions with the provider. */
  'payment-compare': object;
  /** Deletes old events, checkouts and leases, and drops the payloads of events. */
  'payment-sweep': object;
}

type MailsNameUser<Data extends { [Name in `${string}-mail`]: { userId: string } | { email: string } }> = Data;

export type JobName = keyof MailsNameUser<{ [Name in keyof JobData]: JobData[Name] }>;

/** Handles one job. Also receives the job's id, which is stable across retries. Must be idempotent. */
type JobHandler<Data> = (data: Data, id: string) => Promise<void>;

/** The settings of a queue. Times in seconds. */
export type JobKind<Data> = {
  handler: JobHandler<Data>;
  retry: Retry;
  /** Whether this process can do the work. A job that it cannot do is left to another node. */
  isHandledHere?: boolean;
  /** 'stately': at most one job waits and one runs for each key. 'standard' (the default) has no such limit. */
  policy?: 'standard' | 'stately';
  /** A cron expression, for a job that starts at fixed times. */
  schedule?: string;
  concurrency?: number;
  /** Whether the time of the last success is stored, so that an alert can notice its absence. */
  recordsSuccess?: boolean;
};

export type JobKinds = { [Name in JobName]: JobKind<JobData[Name]> };

export type Jobs = {
  /** Enqueues a job in the caller's transaction: after a rollback there is no job. */
  send: <Name extends JobName>(
    tx: Transaction,
    name: Name,
    data: JobData[Name],
    options?: { key?: string; afterSeconds?: number },
  ) => Promise<void>;
  /**
   * Makes this process poll a queue immediately. To be called after the enqueuing transaction has
   * committed.
   */
  wake: (name: JobName) => void;
  /**
   * Deletes the jobs that mail something, whether they wait or have ended: all of them, or those of one
   * user, whose row still exists. These are the jobs that the user caused and those for one of the addresses,
   * unless the address belongs to another user now. Returns how many had not ended.
   */
  dropMails: (tx: Transaction, of?: { userId: string; emails: string[] }) => Promise<number>;
  /** Makes the mails due that wait for their next attempt. Resolves when the workers of this process know it. */
  retryMails: () => Promise<void>;
  /**
   * Takes no more jobs, and resolves when the running ones have ended, after ten seconds at most. Jobs can still
   * be enqueued, for the next start or another node. May be repeated.
   */
  stop: () => Promise<void>;
};

/** How a failed job is retried: the pauses double up to the longest. Zero seconds: not at all. */
export type Retry = { forSeconds: number; longestPauseSeconds: number };

/**
 * Returns the number of retries that take at least `forSeconds`. The queue varies each pause between
 * half of its length and all of it.
 */
export function retriesWithin({ forSeconds, longestPauseSeconds }: Retry, firstPauseSeconds: number): number {
  let retries = 0;
  for (let passed = 0; passed < forSeconds; retries++) {
    passed += Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** Math.min(16, retries) * 0.5);
  }
  return retries;
}
