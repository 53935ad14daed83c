import type { Delivery } from './bookkeeping.ts';
import type { ProviderEvent } from './records.ts';
import type { PaymentState } from './state.ts';
import type { StoredFile } from './stored-file.ts';

/** A permission of a restricted key: a resource and what it may do with it. `write` includes `read`. */
export type Permission = `${string}:${'read' | 'write'}`;

/** The state of one provider and what its functions share. Every function takes it as its first argument. */
export interface Provider {
  /** The origin of the sandbox, from which the URLs of hosted pages are made. */
  url: string;
  secretKey: string;
  /** The account that owns the objects. */
  account: string;
  /** Whether this is the live mode of the account, or its test mode. */
  livemode: boolean;
  /** All accounts and modes that this API serves, by secret key, this one included. */
  providersByKey: Map<string, Provider>;
  /** The time of the service, in milliseconds, by which deliveries to it are signed. Not that of this provider's clock. */
  serviceTime: () => number;
  /** The restricted keys, with what each may do and what was asked of it. */
  restrictedKeys: Map<string, { permissions: ReadonlySet<Permission>; used: Set<Permission> }>;
  file: StoredFile<PaymentState>;
  state: PaymentState;
  deliveries: DeliveryQueue;
  /** While a clock advances: the time of the step that runs, in seconds. Otherwise null. */
  replayedTime: number | null;
  /** The API request that is being processed. Events name it as their cause. */
  request: { id: string; idempotency_key: string | null } | null;
  /** While requests to the API are held back. */
  held: { wait(): Promise<void>; release(): void } | null;
}

/** The deliveries of events to webhook endpoints. */
export interface DeliveryQueue {
  /** Plans the delivery of an event to every endpoint that subscribes to its type. */
  enqueue(event: ProviderEvent): void;
  /** Sends a delivery once more at once, whatever its state. @throws Error if there is no such delivery. */
  resend(id: string): Delivery;
  /** Sends an event to its endpoints once more at once. @throws Error if it has no delivery. */
  resendEvent(eventId: string): void;
  /** Sends all dropped deliveries, oldest first. Returns how many there were. */
  sendDropped(): number;
  /**
   * Resolves when every delivery has been attempted once, and every requested repetition
   * has been made; with `retries`, when every delivery has ended. @throws Error after `timeoutMs` (30 s).
   */
  settled(options?: { retries?: boolean; timeoutMs?: number }): Promise<void>;
  /** Sends all waiting deliveries at once, retries included. */
  retryNow(): void;
  stop(): void;
}
