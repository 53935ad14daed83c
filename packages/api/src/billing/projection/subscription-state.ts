import { fields, idOf, seconds, text } from './fields.ts';

/** What the provider says of a subscription, whichever version of its API said it. Moments in its seconds. */
export type SubscriptionState = {
  id: string;
  customerId: string;
  status: string;
  createdAt: number | null;
  /** The provider's flag itself; an end is scheduled by it or by `cancelAt`. */
  cancelFlag: boolean;
  cancelAt: number | null;
  /** Whether an end is scheduled, in either form. */
  scheduled: boolean;
  endsAt: number | null;
  currentPeriodEnd: number | null;
  items: SubscriptionItem[];
  /** The schedule that manages it: until it is released, the provider refuses to change the end. */
  scheduleId: string | null;
  /** Why it is paused; null where it is not, or where the provider does not say. */
  pauseReason: string | null;
  pausedAt: number | null;
  /** Whether it has a payment method of its own; it is charged to its customer's default otherwise. */
  hasPaymentMethod: boolean;
  metadata: { organisation: string | null; tier: string | null };
};

export type SubscriptionItem = {
  id: string | null;
  priceId: string | null;
  lookupKey: string | null;
  productId: string | null;
  quantity: number;
};

/**
 * Reads a subscription tolerantly: a payload's shape follows the webhook endpoint's
 * API version, not ours. Null where it has no id, customer or status.
 */
export function readSubscriptionState(value: unknown): SubscriptionState | null {
  const subscription = fields(value);
  const id = text(subscription?.id);
  const customerId = idOf(subscription?.customer);
  const status = text(subscription?.status);
  if (subscription === null || id === null || customerId === null || status === null) return null;

  const items = dataOf(subscription.items);
  const cancelFlag = subscription.cancel_at_period_end === true;
  const cancelAt = seconds(subscription.cancel_at);
  const currentPeriodEnd = earliestPeriodEnd(items) ?? seconds(subscription.current_period_end);
  const scheduled = cancelFlag || cancelAt !== null;
  const metadata = fields(subscription.metadata);
  const paused = status === 'paused' ? fields(fields(subscription.status_details)?.paused) : null;

  return {
    id,
    customerId,
    status,
    createdAt: seconds(subscription.created),
    cancelFlag,
    cancelAt,
    scheduled,
    endsAt: scheduled ? (cancelAt ?? currentPeriodEnd) : null,
    currentPeriodEnd,
    items: items.map(readItem),
    scheduleId: idOf(subscription.schedule),
    pauseReason: text(fields(paused?.subscription)?.type),
    pausedAt: seconds(paused?.transitioned_at),
    hasPaymentMethod: idOf(subscription.default_payment_method ?? subscription.default_source) !== null,
    metadata: { organisation: text(metadata?.organisation), tier: text(metadata?.tier) },
  };
}

/** The same for an answer of the provider's. @throws Error where it cannot be read. */
export function requireSubscriptionState(answer: unknown, id: string): SubscriptionState {
  const state = readSubscriptionState(answer);
  if (state === null) throw new Error(`The payment provider's answer about ${id} cannot be read.`);
  return state;
}

function dataOf(list: unknown): unknown[] {
  const data = fields(list)?.data;
  return Array.isArray(data) ? data : [];
}

function earliestPeriodEnd(items: unknown[]): number | null {
  const ends = items.map((item) => seconds(fields(item)?.current_period_end)).filter((end) => end !== null);
  return ends.length > 0 ? Math.min(...ends) : null;
}

function readItem(value: unknown): SubscriptionItem {
  const item = fields(value);
  const price = fields(item?.price) ?? fields(item?.plan);
  return {
    id: text(item?.id),
    priceId: idOf(item?.price) ?? idOf(item?.plan),
    lookupKey: text(price?.lookup_key),
    productId: idOf(price?.product),
    quantity: seconds(item?.quantity) ?? 1,
  };
}

/** What counts of a status for the order of things; unknown ones are neither ended nor past due. */
export type StatusClass = 'ended' | 'past_due' | 'other';

export function statusClassOf(status: string): StatusClass {
  if (status === 'canceled' || status === 'incomplete_expired') return 'ended';
  return status === 'past_due' ? 'past_due' : 'other';
}

export function isEnded(state: Pick<SubscriptionState, 'status'>): boolean {
  return statusClassOf(state.status) === 'ended';
}
