/** What the provider does differently from now on. Each is off, or as the real provider does it, by default. */
export interface Switches {
  /** Milliseconds that each delivery is held back. */
  delivery_delay_ms: number;
  /** Each event is delivered twice. */
  duplicate_deliveries: boolean;
  /** Each change makes two events with ids of their own. */
  duplicate_events: boolean;
  /** Deliveries are held for a moment and sent in random order. */
  reorder_deliveries: boolean;
  /** Deliveries are not sent at all; the events stay listed as undelivered. */
  drop_deliveries: boolean;
  /** Deliveries carry a signature made with another secret. */
  wrong_signature: boolean;
  /** All events carry the same `created`. */
  same_second: boolean;
  /** Payloads in the shape of API versions before 2025-03-31: period on the subscription, invoice.subscription. */
  old_payload_shape: boolean;
  /** How a cancellation in the portal looks: `cancel_at`, or `cancel_at_period_end`. */
  portal_cancellation: 'flexible' | 'classic';
  /** The portal refuses sessions with a flow. */
  portal_refuses_flows: boolean;
  /** What becomes of a subscription when the last retry of its invoice has failed. */
  dunning_end: 'cancel' | 'unpaid' | 'past_due' | 'pause';
  /** What becomes of a subscription when the first charge of a renewal fails. */
  first_failure: 'past_due' | 'pause';
  /** What becomes of a subscription that a failed payment paused, once that invoice is paid or given up. */
  paid_while_paused: 'stays_paused' | 'resumes';
  /** Milliseconds that each API request waits before it is worked on. */
  api_delay_ms: number;
  /** The status that API requests are answered with, or what happens to the connection instead; null: rightly. */
  api_failure: number | 'close' | 'hang' | null;
  /** How many requests fail so; null: until switched off. */
  api_failure_count: number | null;
  /** The requests that fail, as the beginning of "METHOD /path"; '': all. */
  api_failure_only: string;
  /** The request is carried out and only its answer is lost. */
  api_failure_after_effect: boolean;
  /** The pause before the first retry of a delivery; each next one is twice as long, up to the longest. */
  retry_first_ms: number;
  retry_longest_ms: number;
  /** Attempts for each delivery, the first included. */
  delivery_attempts: number;
}

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
    portal_refuses_flows: false,
    dunning_end: 'cancel',
    first_failure: 'past_due',
    paid_while_paused: 'stays_paused',
    api_delay_ms: 0,
    api_failure: null,
    api_failure_count: null,
    api_failure_only: '',
    api_failure_after_effect: false,
    retry_first_ms: 1000,
    retry_longest_ms: 60_000,
    delivery_attempts: 30,
  };
}

/** The switches that take one of several words, and which. */
export const words: Record<string, readonly unknown[]> = {
  portal_cancellation: ['flexible', 'classic'],
  dunning_end: ['cancel', 'unpaid', 'past_due', 'pause'],
  first_failure: ['past_due', 'pause'],
  paid_while_paused: ['stays_paused', 'resumes'],
};

/** Checks changes that came over HTTP. Throws a sentence that names the wrong one. */
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
  if (words[name]) return words[name].includes(value);
  if (typeof example === 'number') return isCount(value);
  return typeof value === typeof example;
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 100_000_000;
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}
