import type { DeliveryQueue } from '../events/delivery-queue.ts';
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
