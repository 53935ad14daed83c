import { type Fields, fields, idOf, seconds, textOf } from '../untrusted-json.ts';

/** A subscription as an event or an answer of the provider shows it, in any version of its API. Times in seconds. */
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
  currentPeriodStart: number | null;
  currentPeriodEnd: number | null;
  items: SubscriptionItem[];
  /** The schedule that manages the subscription: until its release, the provider refuses to change the end. */
  scheduleId: string | null;
  /** The reason of a pause; null without a pause or a known reason. */
  pauseReason: string | null;
  pausedAt: number | null;
  /** The subscription's own payment method; null if the customer's default one is charged. */
  paymentMethodId: string | null;
  /** The currency in which it is invoiced; null if the object does not tell it. */
  currency: string | null;
  /**
   * What all items cost together per interval, before tax and discounts; null if that is no fixed amount. In the own
   * currency of their prices, which need not be the subscription's.
   */
  price: { amount: number; currency: string; interval: Interval } | null;
  /** Whether invoices are not collected for now, which leaves the status as it is. */
  collectionPaused: boolean;
  /** Within how many days its invoices are paid that are sent; null if they are charged. */
  daysUntilDue: number | null;
  metadata: { organisation: string | null; tier: string | null };
  problem: InvoicingProblem | null;
  /** What the provider tells only if it is asked: null in an event. */
  details: SubscriptionDetails | null;
};

/** The reason of a pause at the end of a trial without a payment method. */
export const trialEndPause = 'trial_end_without_payment_method';

export type Interval = 'day' | 'week' | 'month' | 'year';

export type SubscriptionDetails = {
  /** Why the invoices of an active subscription give no plan; null if they do. */
  invoiceTrouble: InvoiceTrouble | null;
  /** When its newest invoice was created, if that is paid; otherwise null. In seconds. */
  paidInvoiceAt: number | null;
  /** What only pages show; undefined if the answer lacks it, because a restricted key may not read it. */
  charged?: {
    /** The method that is charged, such as "visa 4242"; null without one. */
    paymentMethod: string | null;
    /** What the customer has in credit, in minor units of its currency; 0 without any. */
    credit: number;
  };
  /** Its discounts, and those of its customer; undefined if the answer lacks them. */
  discounts?: Discount[];
  /** The change of plan that a schedule makes next; null without one, undefined if the answer lacks it. Times in seconds. */
  nextPhase?: { startsAt: number; items: SubscriptionItem[] } | null;
};

/** What is taken from the invoices: a percentage, or an amount in minor units. */
export type Discount = {
  percent: number | null;
  amount: { amount: number; currency: string } | null;
  /** Whether it is taken from one invoice only. */
  once: boolean;
  /** When it ends, in seconds; null if it does not end by time. */
  endsAt: number | null;
};

/** A debt that was written off, or a first invoice that is void because its debit bounced. */
export type InvoiceTrouble = 'uncollectible' | 'void';

/**
 * What an operator has to mend at the provider: it has stopped to compute the tax of the subscription or of its newest
 * invoice, such as for want of an address, or it could not finalise that invoice. Of the invoice only an answer that
 * contains it tells.
 */
type InvoicingProblem = 'tax_disabled' | 'not_finalised';

export type SubscriptionItem = {
  id: string | null;
  priceId: string | null;
  lookupKey: string | null;
  /** The tier that the price's own metadata name, as for a negotiated price. */
  priceTier: string | null;
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
    paymentMethodId: idOf(subscription.default_payment_method ?? subscription.default_source),
    currency: textOf(subscription.currency),
    price: priceOfItems(items),
    collectionPaused: fields(subscription.pause_collection) !== null,
    daysUntilDue:
      subscription.collection_method === 'send_invoice' ? (seconds(subscription.days_until_due) ?? 0) : null,
    metadata: { organisation: textOf(metadata?.organisation), tier: textOf(metadata?.tier) },
    problem: isEnded({ status }) ? null : problemOf(subscription),
    details: null,
  };
}

function problemOf(subscription: Fields): InvoicingProblem | null {
  const invoice = fields(subscription.latest_invoice);
  if (invoice?.status === 'draft' && fields(invoice.last_finalization_error) !== null) return 'not_finalised';
  return isTaxDisabled(subscription) || isTaxDisabled(invoice) ? 'tax_disabled' : null;
}

/** Whether the provider has stopped to compute the tax of a subscription or an invoice. */
export function isTaxDisabled(object: Fields | null): boolean {
  return textOf(fields(object?.automatic_tax)?.disabled_reason) !== null;
}

/** Adds up what items cost. Null if one has no fixed amount, or if their currencies or intervals differ. */
function priceOfItems(items: (Fields | null)[]): SubscriptionState['price'] {
  const prices = items.map((item) => {
    const price = fields(item?.price) ?? fields(item?.plan);
    const recurring = fields(price?.recurring) ?? price;
    const interval = intervals.find((each) => each === recurring?.interval);
    const unit = seconds(price?.unit_amount) ?? seconds(price?.amount);
    const currency = textOf(price?.currency);
    const isFixed = (recurring?.interval_count ?? 1) === 1 && recurring?.usage_type !== 'metered';
    if (unit === null || currency === null || interval === undefined || !isFixed) return null;
    return { amount: unit * (seconds(item?.quantity) ?? 1), currency, interval };
  });
  const [first] = prices;
  if (first == null) return null;
  const isSame = prices.every((each) => each?.currency === first.currency && each.interval === first.interval);
  return isSame ? { ...first, amount: prices.reduce((sum, each) => sum + (each?.amount ?? 0), 0) } : null;
}

const intervals: Interval[] = ['day', 'week', 'month', 'year'];

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

export function readItem(item: Fields | null): SubscriptionItem {
  const price = fields(item?.price) ?? fields(item?.plan);
  return {
    id: textOf(item?.id),
    priceId: idOf(item?.price) ?? idOf(item?.plan),
    lookupKey: textOf(price?.lookup_key),
    priceTier: textOf(fields(price?.metadata)?.tier),
    productId: idOf(price?.product),
    quantity: seconds(item?.quantity) ?? 1,
  };
}

/** Whether a subscription has ended and cannot be reactivated. One of an unknown status has not. */
export function isEnded({ status }: Pick<SubscriptionState, 'status'>): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}
