import type { SubscriptionItem } from './records.ts';

/*
 * The records that the provider keeps beside the objects of its API. These types import nothing but
 * other record types, so that the state can name them without importing the code that
 * works on them.
 */

/** The settings of a checkout session that its JSON does not show. Most are passed on to its subscription. */
export interface CheckoutSettings {
  /** Whether what the buyer enters replaces the name and address of an existing customer. */
  customer_update?: { name?: string | undefined; address?: string | undefined };
  metadata?: Record<string, string>;
  description?: string;
  trial_period_days?: number;
  trial_end?: number;
  missing_payment_method?: string;
  billing_mode?: 'classic' | 'flexible';
}

/** A payment by bank debit that has not ended. */
export interface Debit {
  /** The id of the invoice. */
  invoice: string;
  /** The id of the payment method. */
  method: string;
  /** When it ends, in seconds of the provider's clock. */
  ends_at: number;
  /** Whether it pays; otherwise it bounces. */
  clears: boolean;
}

/** A requested resumption whose invoice has not been paid. The subscription stays paused until then. */
export interface Resumption {
  /** When it was requested, in seconds of the provider's clock. */
  at: number;
  /** The id of the invoice. */
  invoice: string;
  /**
   * True: any payment attempt ends the pause, and a failed one leaves the subscription past due. False:
   * only payment ends it.
   */
  onAttempt: boolean;
  renewed: Renewed;
}

/** The items and the billing cycle anchor that a subscription has once it has been resumed. */
export interface Renewed {
  items: SubscriptionItem[];
  billingCycleAnchor: number;
}

/** A registration for tax. */
export interface TaxCountry {
  id: string;
  /** Two letters. */
  country: string;
  /** Since when, in seconds. */
  at: number;
}

/** The first answer to a request with an idempotency key, which is replayed for a day. */
export interface SavedAnswer {
  /** A hash of the request, by which a second request with other parameters is recognised. */
  fingerprint: string;
  status: number;
  body: string;
  /** When it was stored, in milliseconds of the machine's clock. */
  at: number;
}

/** The delivery of an event to one webhook endpoint. */
export interface Delivery {
  id: string;
  /** The id of the event. */
  event: string;
  type: string;
  /** The id of the webhook endpoint. */
  endpoint: string;
  state: 'waiting' | 'delivered' | 'failed' | 'dropped';
  attempts: DeliveryAttempt[];
  /** Milliseconds of the machine's clock; null when no further attempt is planned. */
  next_attempt_at: number | null;
  /** Present until an attempt that was requested through the controls has been made. */
  asked?: true;
}

/** One request to a webhook endpoint, and its result. */
export interface DeliveryAttempt {
  /** ISO 8601. */
  at: string;
  /** The status of the answer, or null when there was no answer. */
  status: number | null;
  /** The first 500 characters of the answer, or the error. */
  answer: string;
  /** How long it took, in milliseconds. */
  ms: number;
}
