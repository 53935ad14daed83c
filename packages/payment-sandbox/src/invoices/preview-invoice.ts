import type Stripe from 'stripe';
import { addInterval, hourSeconds } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, InvoiceLine, Subscription, SubscriptionItem } from '../provider/records.ts';
import { ApiError, missing, missingParameter } from '../routing/api-error.ts';
import { type Call, route } from '../routing/route.ts';
import { isFinal, periodEnd } from '../subscriptions/end-subscription.ts';
import { planOf } from '../subscriptions/new-subscription.ts';
import { type ItemChange, planUpdate } from '../subscriptions/update-items.ts';
import { applyBalance, setLines } from './draft-invoice.ts';
import { newInvoice, newLine } from './new-invoice.ts';

/**
 * Answers what the next invoice of a subscription will be; with changed items, the invoice of the change if that is made
 * at once, otherwise the next one after it. Changes nothing.
 */
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
    subscription_details: {
      hash: {
        billing_cycle_anchor: 'unsupported',
        billing_mode: 'unsupported',
        billing_schedules: 'unsupported',
        cancel_at: 'unsupported',
        cancel_at_period_end: 'unsupported',
        cancel_now: 'unsupported',
        default_tax_rates: 'unsupported',
        items: { list: { hash: { id: 'string', price: 'string', quantity: 'integer', deleted: 'boolean' } } },
        metadata: 'unsupported',
        pause: 'unsupported',
        proration_behavior: { one: ['always_invoice', 'create_prorations', 'none'] },
        proration_date: 'unsupported',
        resume_at: 'unsupported',
        start_date: 'unsupported',
        trial_end: 'unsupported',
      },
    },
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

  const { items: changes, proration_behavior: proration } = params.subscription_details ?? {};
  const waiting = provider.state.pending_lines[id] ?? [];
  if (changes === undefined) return renewalOf(provider, subscription, at, waiting);
  const planned = planUpdate(provider, subscription, { changes: changes as ItemChange[], proration });
  const changed = { ...subscription, items: { ...subscription.items, data: planned.items } };
  const lines = [...waiting, ...planned.lines];
  if (!planned.isBilledNow) return renewalOf(provider, changed, periodEnd(changed), lines);
  return withSums(provider, changed, newInvoice(provider, changed, 'subscription_update'), lines);
}

/** The invoice of the period that begins at `at`, with what waits for it. */
function renewalOf(provider: Provider, subscription: Subscription, at: number, waiting: InvoiceLine[]): Invoice {
  const items = itemsFrom(provider, subscription, at);
  const renewed = { ...subscription, items: { ...subscription.items, data: items } };
  const invoice = newInvoice(provider, renewed, 'subscription_cycle');
  const dueIn = invoice.due_date === null ? null : invoice.due_date - invoice.created;
  Object.assign(invoice, {
    billing_reason: 'upcoming',
    created: at,
    period_end: at,
    due_date: dueIn === null ? null : at + dueIn,
    automatically_finalizes_at: null,
    next_payment_attempt: dueIn === null ? at + hourSeconds : null,
  });
  return withSums(provider, renewed, invoice, [...waiting, ...items.map((item) => newLine(provider, renewed, item))]);
}

/** `subscription` is a copy, because the discounts of one that is given once are taken from it. */
function withSums(provider: Provider, subscription: Subscription, invoice: Invoice, lines: InvoiceLine[]): Invoice {
  invoice.id = invoice.id.replace(/^in_/, 'upcoming_in_');
  setLines(provider, subscription, invoice, lines);
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
