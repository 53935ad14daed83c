import type { Delivery } from './bookkeeping.ts';
import type { ProviderEvent } from './records.ts';
import type { PaymentState } from './state.ts';
import type { StoredFile } from './stored-file.ts';

/** The provider's insides, handed to every function that works on them. */
export interface Provider {
  /** The sandbox's origin, for the addresses of hosted pages. */
  url: string;
  secretKey: string;
  /** Whose objects these are, and in which of the account's two modes. */
  account: string;
  livemode: boolean;
  /** Every account and mode that this API serves, by secret key; this one included. */
  worlds: Map<string, Provider>;
  file: StoredFile<PaymentState>;
  state: PaymentState;
  deliveries: DeliveryQueue;
  /** The moment that is being replayed while a clock advances, else null. */
  replayedTime: number | null;
  /** The API request at work, which events name as their cause. */
  request: { id: string; idempotency_key: string | null } | null;
}

/** The deliveries of events to webhook endpoints. */
export interface DeliveryQueue {
  /** Plans the delivery of an event to every endpoint that wants its type. */
  enqueue(event: ProviderEvent): void;
  /** Sends a delivery once more at once, whatever its state. Throws if there is no such delivery. */
  resend(id: string): Delivery;
  /** Sends an event to its endpoints once more at once. Throws if it was never delivered to any. */
  resendEvent(eventId: string): void;
  /** Sends all dropped deliveries, oldest first. Returns how many there were. */
  sendDropped(): number;
  /**
   * Resolves when every delivery has been attempted once, and every requested repetition
   * has been made; with `retries`, when every delivery has ended. Throws after `timeoutMs` (30 s).
   */
  settled(options?: { retries?: boolean; timeoutMs?: number }): Promise<void>;
  /** Sends at once all deliveries that wait for a retry. */
  retryNow(): void;
  stop(): void;
}
