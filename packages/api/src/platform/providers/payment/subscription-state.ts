import { type Fields, fields, idOf, seconds, textOf } from '../untrusted-json.ts';

/** A subscription as an event or an answer of the provider shows it, in any version of its API. Times in seconds. */
export type SubscriptionState = {
  id: string;
  customerId: string;
  status: string;
  statusClass: StatusClass;
  createdAt: number | null;
  /** The provider's flag itself; an end is scheduled by it or by `cancelAt`. */
  cancelFlag: boolean;
  cancelAt: number | null;
  /** Whether an end is scheduled, in either form. */
  scheduled: boolean;
  endsAt: number | null;
  currentPeriodStart: number | null;
  currentPeriodEnd: number | null;
  items: SubscriptionItem[];
  /** The schedule that manages the subscription: until its release, the provider refuses to change the end. */
  scheduleId: string | null;
  /** The reason of a pause; null without a pause or a known reason. */
  pauseReason: string | null;
  pausedAt: number | null;
  /** Whether the subscription has its own payment method; otherwise the customer's default one is charged. */
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
 * Reads a subscription tolerantly, because a payload's shape follows the API version of the
 * webhook endpoint, not ours. Null without an id, a customer or a status.
 */
export function readSubscriptionState(value: unknown): SubscriptionState | null {
  const subscription = fields(value);
  const id = textOf(subscription?.id);
  const customerId = idOf(subscription?.customer);
  const status = textOf(subscription?.status);
  if (subscription === null || id === null || customerId === null || status === null) return null;

  const items = dataOf(subscription.items).map(fields);
  const cancelFlag = subscription.cancel_at_period_end === true;
  const cancelAt = seconds(subscription.cancel_at);
  const { start: currentPeriodStart, end: currentPeriodEnd } = earliestPeriod(items) ?? periodOf(subscription);
  const scheduled = cancelFlag || cancelAt !== null;
  const metadata = fields(subscription.metadata);
  const paused = status === 'paused' ? fields(fields(subscription.status_details)?.paused) : null;

  return {
    id,
    customerId,
    status,
    statusClass: statusClassOf(status),
    createdAt: seconds(subscription.created),
    cancelFlag,
    cancelAt,
    scheduled,
    endsAt: scheduled ? (cancelAt ?? currentPeriodEnd) : null,
    currentPeriodStart,
    currentPeriodEnd,
    items: items.map(readItem),
    scheduleId: idOf(subscription.schedule),
    pauseReason: textOf(fields(paused?.subscription)?.type),
    pausedAt: seconds(paused?.transitioned_at),
    hasPaymentMethod: idOf(subscription.default_payment_method ?? subscription.default_source) !== null,
    metadata: { organisation: textOf(metadata?.organisation), tier: textOf(metadata?.tier) },
  };
}

function dataOf(list: unknown): unknown[] {
  const data = fields(list)?.data;
  return Array.isArray(data) ? data : [];
}

type Period = { start: number | null; end: number | null };

function periodOf(object: Fields | null): Period {
  return { start: seconds(object?.current_period_start), end: seconds(object?.current_period_end) };
}

/** The period of the items that ends first, of equal ends the one that began first; null if no item has one. */
function earliestPeriod(items: (Fields | null)[]): Period | null {
  const periods = items.map(periodOf).filter(({ end }) => end !== null);
  const order = (one: Period, other: Period) =>
    Number(one.end) - Number(other.end) || Number(one.start) - Number(other.start);
  return periods.toSorted(order)[0] ?? null;
}

function readItem(item: Fields | null): SubscriptionItem {
  const price = fields(item?.price) ?? fields(item?.plan);
  return {
    id: textOf(item?.id),
    priceId: idOf(item?.price) ?? idOf(item?.plan),
    lookupKey: textOf(price?.lookup_key),
    productId: idOf(price?.product),
    quantity: seconds(item?.quantity) ?? 1,
  };
}

/** The class of a status. An unknown status is of the class `other`. */
export type StatusClass = 'ended' | 'past_due' | 'other';

export function statusClassOf(status: string): StatusClass {
  if (status === 'canceled' || status === 'incomplete_expired') return 'ended';
  return status === 'past_due' ? 'past_due' : 'other';
}

/** Whether a subscription has ended and cannot be reactivated. */
export function isEnded({ statusClass }: Pick<SubscriptionState, 'statusClass'>): boolean {
  return statusClass === 'ended';
}
