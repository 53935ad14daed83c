import type { App } from '../../app.ts';
import { dateOfSecond } from '../../platform/durations.ts';
import {
  moneyOfEvent,
  parsePayload,
  type ShownObject,
  subscriptionAfter,
  subscriptionBefore,
} from '../../platform/providers/payment/event.ts';
import { type InvoiceState, readInvoiceState } from '../../platform/providers/payment/invoices.ts';
import type { SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';

/** What an event shows of a subscription: its status now, and each property that the event changed. */
export type SubscriptionChange = {
  kind: 'subscription';
  status: string;
  /** Null if the event did not change it. */
  previous_status: string | null;
  /** The names of the prices, else their lookup keys or ids. Null if the event did not change the price. */
  price: { current: string | null; previous: string | null } | null;
  /** The moment of a scheduled end, which is null for the end of the period. */
  end: { change: 'scheduled'; at: string | null } | { change: 'withdrawn' } | null;
  /** Null if the event did not change it. */
  current_period_end: { at: string | null } | null;
};

type InvoiceChange = {
  kind: 'invoice';
  /** In the provider's minor units. */
  amount_due: number;
  /** What was paid, in the same units; null while the invoice is not paid. */
  amount_paid: number | null;
  currency: string;
};

/** A dispute, a refund or an early fraud warning. `amount` in the provider's minor units. */
type MoneyChange = {
  kind: 'money';
  amount: number | null;
  currency: string | null;
  status: string | null;
  reason: string | null;
};

type EventChange = SubscriptionChange | InvoiceChange | MoneyChange;

/** Returns the plan that is sold under a lookup key or price id, else that key or id. */
export type NameOfPrice = (price: string) => string;

/**
 * Reads from a stored event what it changed. Returns null if the payload was dropped or is not readable, or
 * says nothing about a subscription or an invoice.
 */
export function readEventChange(
  type: string,
  payload: string | null,
  nameOf: NameOfPrice = (price) => price,
): EventChange | null {
  const shown = payload === null ? null : parsePayload(payload);
  if (shown === null) return null;

  if (type.startsWith('customer.subscription.')) return ofSubscription(shown, nameOf);
  if (type.startsWith('invoice.')) return ofInvoice(readInvoiceState(shown.object));
  if (/^(charge|refund|radar)\./.test(type)) return { kind: 'money', ...moneyOfEvent(shown) };
  return null;
}

function ofSubscription(shown: ShownObject, nameOf: NameOfPrice): SubscriptionChange | null {
  const now = subscriptionAfter(shown);
  if (now === null) return null;

  const before = subscriptionBefore(shown);
  const pricesDiffer = before !== null && priceOf(before) !== priceOf(now);
  const periodsDiffer = before !== null && before.currentPeriodEnd !== now.currentPeriodEnd;
  return {
    kind: 'subscription',
    status: now.status,
    previous_status: before !== null && before.status !== now.status ? before.status : null,
    price: pricesDiffer ? { current: named(priceOf(now), nameOf), previous: named(priceOf(before), nameOf) } : null,
    end: endOf(now, before),
    current_period_end: periodsDiffer ? { at: isoTime(now.currentPeriodEnd) } : null,
  };
}

function priceOf({ items }: SubscriptionState): string | null {
  return items[0]?.lookupKey ?? items[0]?.priceId ?? null;
}

function named(price: string | null, nameOf: NameOfPrice): string | null {
  return price === null ? null : nameOf(price);
}

function endOf(now: SubscriptionState, before: SubscriptionState | null): SubscriptionChange['end'] {
  if (now.scheduled) return { change: 'scheduled', at: isoTime(now.endsAt) };
  return before?.scheduled ? { change: 'withdrawn' } : null;
}

function isoTime(unixSeconds: number | null): string | null {
  return dateOfSecond(unixSeconds)?.toISOString() ?? null;
}

function ofInvoice({ status, amountDue, amountPaid, currency }: InvoiceState): InvoiceChange | null {
  if (amountDue === null || currency === null) return null;
  return {
    kind: 'invoice',
    amount_due: amountDue,
    amount_paid: status === 'paid' ? (amountPaid ?? amountDue) : null,
    currency,
  };
}

/** Returns a function that names the plan which is sold under a lookup key or price id. */
export function nameOfPrice(app: App): NameOfPrice {
  return (price) => {
    const tier = app.plans.sold.find(({ name }) => name === price)?.tier;
    return app.plans.tiers.find((each) => each.tier === tier)?.name ?? price;
  };
}
