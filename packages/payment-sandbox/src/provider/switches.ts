/** Settings that make the provider behave differently. By default it behaves as the real provider does. */
export interface Switches {
  /** Milliseconds by which each delivery is delayed. */
  delivery_delay_ms: number;
  /** Each event is delivered twice. */
  duplicate_deliveries: boolean;
  /** Each change creates two events with different ids. */
  duplicate_events: boolean;
  /** Deliveries wait a short random time, and so are sent in random order. */
  reorder_deliveries: boolean;
  /** Deliveries are not sent at all; the events stay listed as undelivered. */
  drop_deliveries: boolean;
  /** Deliveries are signed with another secret. */
  wrong_signature: boolean;
  /** All events have the same `created`. */
  same_second: boolean;
  /** Payloads have the shape of API versions before 2025-03-31: period on the subscription, invoice.subscription. */
  old_payload_shape: boolean;
  /** A cancellation in the portal sets `cancel_at` (flexible) or `cancel_at_period_end` (classic). */
  portal_cancellation: 'flexible' | 'classic';
  /**
   * A card that the portal saves becomes the default of the customer alone, so that a subscription with a card of its
   * own goes on charging that; or the default of its subscriptions too.
   */
  portal_card: 'customer' | 'subscriptions';
  /** The payment method of a subscription can be cleared by ''. By the SDK's types it cannot. */
  subscription_card_clears: boolean;
  /** A word in the paths of an `expand` that the key may not read, such as `customer`: asking for one gets 403; '': none. */
  forbidden_expansion: string;
  /** The portal refuses sessions with a flow. */
  portal_refuses_flows: boolean;
  /** What happens to a subscription when the last retry of its invoice has failed. */
  dunning_end: 'cancel' | 'unpaid' | 'past_due' | 'pause';
  /** What happens to a subscription when the first charge of a renewal fails. */
  first_failure: 'past_due' | 'pause';
  /** What happens to a subscription that a failed payment paused, once that invoice is paid or marked uncollectible. */
  paid_while_paused: 'stays_paused' | 'resumes';
  /** The tax settings of an account without a registration: without a head office they are pending. */
  tax_settings: 'pending' | 'active';
  /** Milliseconds that each API request waits before it is processed. */
  api_delay_ms: number;
  /** The status of failing API requests, or `close` to cut the connection, or `hang` to never answer; null: no failure. */
  api_failure: number | 'close' | 'hang' | null;
  /** How many requests fail; null: all, until the switch is reset. */
  api_failure_count: number | null;
  /** Only requests fail whose "METHOD /path" starts with this text; '': all. */
  api_failure_only: string;
  /** The `Retry-After` of requests that fail with status 429, in seconds; 0: none. */
  api_retry_after_seconds: number;
  /** A failing request is performed, and only its answer is lost. */
  api_failure_after_effect: boolean;
  /** Milliseconds before the first retry of a delivery. Each later pause is twice as long, up to `retry_longest_ms`. */
  retry_first_ms: number;
  retry_longest_ms: number;
  /** Attempts for each delivery, the first included. */
  delivery_attempts: number;
}

/** Returns the switches with which the provider behaves as the real one does. */
export function defaultSwitches(): Switches {
  return {
    delivery_delay_ms: 0,
    duplicate_deliveries: false,
    duplicate_events: false,
    reorder_deliveries: false,
    drop_deliveries: false,
    wrong_signature: false,
    same_second: false,
    old_payload_shape: false,
    portal_cancellation: 'flexible',
    portal_card: 'customer',
    subscription_card_clears: false,
    forbidden_expansion: '',
    portal_refuses_flows: false,
    dunning_end: 'cancel',
    first_failure: 'past_due',
    paid_while_paused: 'stays_paused',
    tax_settings: 'pending',
    api_delay_ms: 0,
    api_failure: null,
    api_failure_count: null,
    api_failure_only: '',
    api_failure_after_effect: false,
    api_retry_after_seconds: 0,
    retry_first_ms: 1000,
    retry_longest_ms: 60_000,
    delivery_attempts: 30,
  };
}

/** The switches that are enumerations, with their values. */
export const enumerations: Record<string, readonly unknown[]> = {
  portal_cancellation: ['flexible', 'classic'],
  portal_card: ['customer', 'subscriptions'],
  dunning_end: ['cancel', 'unpaid', 'past_due', 'pause'],
  first_failure: ['past_due', 'pause'],
  paid_while_paused: ['stays_paused', 'resumes'],
  tax_settings: ['pending', 'active'],
};

/**
 * Checks changes that came over HTTP.
 *
 * @throws Error that names the switch if it is unknown or its value is not allowed.
 */
export function readSwitches(changes: Record<string, unknown>): Partial<Switches> {
  const defaults: Record<string, unknown> = { ...defaultSwitches() };
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(defaults, name)) throw new Error(`There is no switch called ${name}.`);
    if (!isValueOf(name, value, defaults[name]))
      throw new Error(`The switch ${name} cannot be ${JSON.stringify(value)}.`);
  }
  return changes as Partial<Switches>;
}

function isValueOf(name: string, value: unknown, example: unknown): boolean {
  if (name === 'api_failure') return value === null || value === 'close' || value === 'hang' || isStatus(value);
  if (name === 'api_failure_count') return value === null || isCount(value);
  if (enumerations[name]) return enumerations[name].includes(value);
  if (typeof example === 'number') return isCount(value);
  return typeof value === typeof example;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 100_000_000;
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}
