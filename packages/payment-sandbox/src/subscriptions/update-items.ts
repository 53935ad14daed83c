import { requireCurrency, unitAmount } from '../catalogue/price-currencies.ts';
import { findPrice } from '../catalogue/prices.ts';
import { announce, change } from '../events/announce.ts';
import { tryCharge } from '../invoices/charge.ts';
import { addPendingLine, draftInvoice } from '../invoices/draft-invoice.ts';
import { newLine } from '../invoices/new-invoice.ts';
import { payNow } from '../invoices/pay-invoice.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { InvoiceLine, Subscription, SubscriptionItem } from '../provider/records.ts';
import { ApiError, missing, refused } from '../routing/api-error.ts';
import { firstPeriodEnd, newItem, planOf } from './new-subscription.ts';

export interface ItemChange {
  id?: string;
  price?: string;
  quantity?: number;
  deleted?: boolean;
  metadata?: Record<string, string> | '';
}

interface ItemUpdate {
  changes: ItemChange[];
  proration?: string | undefined;
  payment?: string | undefined;
  /** Whether the customer makes the change on a page, and has authenticated its payment. */
  terms?: { onSession: boolean; authenticated: boolean };
  /** Makes further changes, which become part of the same event. */
  also?: (subscription: Subscription) => void;
}

/**
 * Changes the items of a subscription in one event, and bills the difference: on the next
 * invoice (create_prorations), at once (always_invoice) or not at all (none). A change of the
 * interval starts a new period and is billed at once, except in a trial, which continues.
 *
 * @throws ApiError if an item or price does not exist, if no item is left, or if the charge is
 * declined and `payment` is error_if_incomplete. Nothing has changed then.
 */
export function updateItems(provider: Provider, subscription: Subscription, update: ItemUpdate): void {
  const { also } = update;
  const { items, lines, restartedAt, isBilledNow } = planUpdate(provider, subscription, update);
  if (isBilledNow) requireAccepted(provider, subscription, update, lines);

  const draft = isBilledNow ? draftInvoice(provider, subscription, 'subscription_update', { lines }) : null;
  if (!draft) for (const line of lines) addPendingLine(provider, subscription, line);
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.items.data = items;
    if (restartedAt !== null) subscription.billing_cycle_anchor = restartedAt;
    if (draft) subscription.latest_invoice = draft.id;
    also?.(subscription);
  });
  if (!draft) return;
  announce(provider, 'invoice.created', draft);
  const { onSession = false, authenticated = false } = update.terms ?? {};
  payNow(provider, draft.id, onSession, { authenticated });
}

interface PlannedUpdate {
  items: SubscriptionItem[];
  /** The credits and charges for the difference. */
  lines: InvoiceLine[];
  /** When a new period starts; null if the current one continues. */
  restartedAt: number | null;
  /** Whether the lines are invoiced at once. */
  isBilledNow: boolean;
}

/**
 * Returns what a change of items would do. Changes nothing.
 *
 * @throws ApiError if an item or price does not exist, or if no item is left.
 */
export function planUpdate(
  provider: Provider,
  subscription: Subscription,
  { changes, proration = 'create_prorations' }: Pick<ItemUpdate, 'changes' | 'proration'>,
): PlannedUpdate {
  if (subscription.status === 'incomplete') {
    throw refused('A subscription with a status of `incomplete` can only update its metadata.');
  }
  const items = plannedItems(provider, subscription, changes);
  if (subscription.status === 'trialing') return { items, lines: [], restartedAt: null, isBilledNow: false };

  const at = timeOfCustomer(provider, subscription.customer);
  const restarts = items.some((item) => intervalOf(item) !== intervalOf(subscription.items.data[0] ?? item));
  if (restarts) for (const item of items) restartPeriod(item, at);
  const lines = proration === 'none' ? [] : prorationLines(provider, subscription, items, at, restarts);
  const isBilledNow = lines.length > 0 && (proration === 'always_invoice' || restarts);
  return { items, lines, restartedAt: restarts ? at : null, isBilledNow };
}

function plannedItems(provider: Provider, subscription: Subscription, changes: ItemChange[]): SubscriptionItem[] {
  const items = structuredClone(subscription.items.data);
  for (const [index, wanted] of changes.entries()) {
    const price = wanted.price === undefined ? undefined : findPrice(provider, wanted.price, `items[${index}][price]`);
    if (price && !price.active)
      throw refused('The price specified is inactive. This field only accepts active prices.', {
        param: `items[${index}][price]`,
      });
    if (price) requireCurrency(provider, price, subscription.currency, `items[${index}][price]`);
    if (wanted.id === undefined) {
      if (!price)
        throw refused('Missing required param: items[0][price].', {
          code: 'parameter_missing',
          param: `items[${index}][price]`,
        });
      const at = timeOfCustomer(provider, subscription.customer);
      const end = items[0]?.current_period_end ?? firstPeriodEnd(price, at);
      items.push(newItem(subscription.id, price, wanted.quantity ?? 1, at, end, wanted.metadata || {}));
      continue;
    }
    const item = items.find((one) => one.id === wanted.id);
    if (!item) throw missing('subscription item', wanted.id, `items[${index}][id]`);
    if (wanted.deleted) items.splice(items.indexOf(item), 1);
    if (price) Object.assign(item, { price: structuredClone(price), plan: planOf(price) });
    if (wanted.quantity !== undefined) item.quantity = wanted.quantity;
    if (wanted.metadata !== undefined) item.metadata = wanted.metadata || {};
  }
  if (items.length === 0)
    throw refused('A subscription must have at least one active plan. To cancel, cancel the subscription.');
  return items;
}

function restartPeriod(item: SubscriptionItem, at: number): void {
  item.current_period_start = at;
  item.current_period_end = firstPeriodEnd(item.price, at);
}

/** Returns a credit for the unused time of removed items, and a charge for the remaining time of added ones. */
function prorationLines(
  provider: Provider,
  subscription: Subscription,
  after: SubscriptionItem[],
  at: number,
  restarted: boolean,
): InvoiceLine[] {
  const lines: InvoiceLine[] = [];
  const before = subscription.items.data;
  const amountOf = ({ price, quantity }: SubscriptionItem) =>
    unitAmount(provider, price, subscription.currency) * quantity;
  const partOf = (item: SubscriptionItem) => remainingPart(item, amountOf(item), at);
  for (const item of before) {
    const now = after.find(({ id }) => id === item.id);
    if (!restarted && now && amountOf(now) === amountOf(item)) continue;
    lines.push(newLine(provider, subscription, item, -partOf(item), { description: 'Unused time', start: at }));
  }
  for (const item of after) {
    const was = before.find(({ id }) => id === item.id);
    if (!restarted && was && amountOf(was) === amountOf(item)) continue;
    lines.push(
      restarted
        ? newLine(provider, subscription, item)
        : newLine(provider, subscription, item, partOf(item), { description: 'Remaining time', start: at }),
    );
  }
  return lines;
}

/** Returns the part of an amount for the rest of an item's period. */
function remainingPart(item: SubscriptionItem, amount: number, at: number): number {
  const length = item.current_period_end - item.current_period_start;
  const left = Math.min(length, Math.max(0, item.current_period_end - at));
  return length > 0 ? Math.round((amount * left) / length) : 0;
}

function intervalOf(item: SubscriptionItem): string {
  return `${item.price.recurring?.interval}:${item.price.recurring?.interval_count}`;
}

/**
 * @throws ApiError card_declined if the charge would be declined and `payment` is error_if_incomplete,
 *   sandbox_unsupported if it is pending_if_incomplete.
 */
function requireAccepted(
  provider: Provider,
  subscription: Subscription,
  update: ItemUpdate,
  lines: InvoiceLine[],
): void {
  if (update.payment !== 'error_if_incomplete' && update.payment !== 'pending_if_incomplete') return;
  if (subscription.collection_method === 'send_invoice') return;
  const total = lines.reduce((sum, line) => sum + line.amount, 0);
  const customer = provider.state.customers[subscription.customer];
  const method = subscription.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null;
  const charge =
    total > 0
      ? tryCharge(provider, method, { ...update.terms, reason: 'subscription_update' })
      : ({ result: 'paid' } as const);
  if (charge.result === 'paid' || charge.result === 'processing') return;
  if (update.payment === 'pending_if_incomplete') {
    throw refused('The sandbox does not support pending updates; the real provider does.', {
      code: 'sandbox_unsupported',
    });
  }
  throw new ApiError(402, charge.message, {
    type: 'card_error',
    code: 'card_declined',
    declineCode: 'generic_decline',
  });
}
