import type Stripe from 'stripe';
import { addInterval, hourSeconds } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription, SubscriptionItem } from '../provider/records.ts';
import { ApiError, missing, missingParameter } from '../routing/api-error.ts';
import { type Call, route } from '../routing/route.ts';
import { isFinal, periodEnd } from '../subscriptions/end-subscription.ts';
import { planOf } from '../subscriptions/new-subscription.ts';
import { applyBalance, setLines } from './draft-invoice.ts';
import { newInvoice, newLine } from './new-invoice.ts';

/** Answers what the next invoice of a subscription will be. Changes nothing. */
export const previewRoute = route<Stripe.InvoiceCreatePreviewParams>(
  'POST',
  '/v1/invoices/create_preview',
  {
    automatic_tax: 'unsupported',
    currency: 'unsupported',
    customer: 'unsupported',
    customer_account: 'unsupported',
    customer_details: 'unsupported',
    discounts: 'unsupported',
    invoice_items: 'unsupported',
    issuer: 'unsupported',
    on_behalf_of: 'unsupported',
    preview_mode: 'unsupported',
    schedule: 'unsupported',
    schedule_details: 'unsupported',
    subscription: 'string',
    subscription_details: 'unsupported',
  },
  preview,
);

function preview({ provider, params }: Call<Stripe.InvoiceCreatePreviewParams>): Invoice {
  const id = params.subscription;
  if (id === undefined) throw missingParameter('subscription');
  const subscription = provider.state.subscriptions[id];
  if (!subscription) throw missing('subscription', id, 'subscription');
  const at = periodEnd(subscription);
  const ends = subscription.cancel_at !== null && subscription.cancel_at <= at;
  if (isFinal(subscription) || subscription.status === 'paused' || ends) {
    throw new ApiError(404, `No upcoming invoices for customer: ${subscription.customer}`, {
      code: 'invoice_upcoming_none',
    });
  }

  const renewed = { ...subscription, items: { ...subscription.items, data: itemsFrom(provider, subscription, at) } };
  const invoice = newInvoice(provider, renewed, 'subscription_cycle');
  const dueIn = invoice.due_date === null ? null : invoice.due_date - invoice.created;
  const waiting = provider.state.pending_lines[id] ?? [];
  Object.assign(invoice, {
    id: invoice.id.replace(/^in_/, 'upcoming_in_'),
    billing_reason: 'upcoming',
    created: at,
    period_end: at,
    due_date: dueIn === null ? null : at + dueIn,
    automatically_finalizes_at: null,
    next_payment_attempt: dueIn === null ? at + hourSeconds : null,
  });
  setLines(provider, renewed, invoice, [
    ...waiting,
    ...renewed.items.data.map((item) => newLine(provider, renewed, item)),
  ]);
  applyBalance(invoice, provider.state.customers[subscription.customer]?.balance ?? 0);
  return invoice;
}

/** The items in the period that begins at `at`, with the prices that a schedule sets by then. */
function itemsFrom(provider: Provider, subscription: Subscription, at: number): SubscriptionItem[] {
  const schedule = provider.state.subscription_schedules[subscription.schedule ?? ''];
  const phase = schedule?.phases.find(({ start_date: start }) => start > (schedule.current_phase?.start_date ?? 0));
  return subscription.items.data.map((item, index) => {
    const planned = phase !== undefined && phase.start_date <= at ? phase.items[index] : undefined;
    const price = provider.state.prices[planned?.price ?? ''] ?? item.price;
    const { interval = 'month', interval_count: count = 1 } = price.recurring ?? {};
    return {
      ...item,
      price,
      plan: planOf(price),
      quantity: planned?.quantity ?? item.quantity,
      current_period_start: at,
      current_period_end: addInterval(at, interval, count, subscription.billing_cycle_anchor),
    };
  });
}
