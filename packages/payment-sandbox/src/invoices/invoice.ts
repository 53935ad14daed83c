import { cardOf } from '../customers/cards.ts';
import { announce, change } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, InvoiceLine, Subscription } from '../provider/records.ts';
import { canPause, pauseFor } from '../subscriptions/pause/pause.ts';
import { afterFailedAttempt, afterSettlement } from '../subscriptions/pause/wake-paused.ts';
import { dunningAfterFailure } from './dunning.ts';
import { type BillingReason, newInvoice, newLine } from './new-invoice.ts';

/**
 * Drafts an invoice over a subscription's items and what waits to be billed with
 * them. Its maker sets `latest_invoice` and announces both, so that no state of
 * a subscription goes by without an event.
 */
export function draftInvoice(
  provider: Provider,
  subscription: Subscription,
  reason: BillingReason,
  { free = false, lines }: { free?: boolean; lines?: InvoiceLine[] } = {},
): Invoice {
  const invoice = newInvoice(provider, subscription, reason);
  const items = lines ?? subscription.items.data.map((item) => newLine(subscription, item, free ? 0 : null));
  const waiting = provider.state.pending_lines[subscription.id] ?? [];
  delete provider.state.pending_lines[subscription.id];
  invoice.lines.data = [...waiting, ...items].map((line) => ({ ...line, invoice: invoice.id }));
  const total = invoice.lines.data.reduce((sum, line) => sum + line.amount, 0);
  invoice.subtotal = invoice.total = total;
  invoice.subtotal_excluding_tax = invoice.total_excluding_tax = total;
  invoice.amount_due = invoice.amount_remaining = Math.max(0, total);
  provider.state.invoices[invoice.id] = invoice;
  return invoice;
}

/** Gives a draft its number and its final amount. */
export function finalizeInvoice(provider: Provider, invoice: Invoice): void {
  if (invoice.status !== 'draft') return;
  const at = timeOfCustomer(provider, invoice.customer);
  const customer = provider.state.customers[invoice.customer];
  const balance = customer?.balance ?? 0;
  // A negative total becomes the customer's credit, and credit pays the next invoices.
  const due = Math.max(0, invoice.total + Math.min(0, balance));
  const balanceAfter = invoice.total < 0 ? balance + invoice.total : Math.min(0, balance + invoice.total);
  invoice.status = 'open';
  invoice.number = `SANDBOX-${String(provider.state.next_invoice_number++).padStart(4, '0')}`;
  invoice.starting_balance = balance;
  invoice.ending_balance = balance < 0 || invoice.total < 0 ? balanceAfter : balance;
  invoice.amount_due = invoice.amount_remaining = due;
  invoice.effective_at = at;
  invoice.automatically_finalizes_at = null;
  invoice.hosted_invoice_url = `${provider.url}/pay/invoice/${invoice.id}`;
  invoice.invoice_pdf = `${provider.url}/pay/invoice/${invoice.id}`;
  invoice.status_transitions.finalized_at = at;
  announce(provider, 'invoice.finalized', invoice);
  if (!customer) return;
  change(provider, 'customer.updated', customer, () => {
    customer.balance = invoice.ending_balance ?? 0;
  });
}

export type Charge = { result: 'paid' } | { result: 'declined' | 'asks' | 'no_card'; message: string };

interface PayOptions {
  /** Somebody asked for it, so it is no step of the dunning. */
  manual?: boolean;
  /** Charged instead of the subscription's own. */
  paymentMethod?: string | undefined;
}

/** Finalises an invoice and charges it at once; the subscription follows from the result. */
export function payNow(
  provider: Provider,
  invoiceId: string,
  ownerPresent: boolean,
  { manual = false, paymentMethod }: PayOptions = {},
): Charge {
  const invoice = provider.state.invoices[invoiceId];
  if (!invoice) throw new Error(`There is no invoice ${invoiceId}.`);
  finalizeInvoice(provider, invoice);
  const method = paymentMethod ?? payingMethod(provider, invoice);
  const charge = invoice.amount_due === 0 ? ({ result: 'paid' } as const) : tryCharge(provider, method, ownerPresent);
  if (invoice.amount_due > 0 && !(manual && invoice.attempted)) invoice.attempt_count += 1;
  invoice.attempted = true;
  if (charge.result === 'paid') settle(provider, invoice);
  else fail(provider, invoice, charge.result, manual);
  return charge;
}

/** The card that an invoice is charged to: the subscription's, else the customer's. */
export function payingMethod(provider: Provider, invoice: Invoice): string | null {
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  const customer = provider.state.customers[invoice.customer];
  return subscription?.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null;
}

/** What a charge would come to; nothing changes by it. */
export function tryCharge(provider: Provider, methodId: string | null, ownerPresent: boolean): Charge {
  const card = methodId ? cardOf(provider.state.payment_methods[methodId]) : undefined;
  if (!card)
    return { result: 'no_card', message: 'This customer has no attached payment source or default payment method.' };
  const outcome = ownerPresent ? card.present : card.absent;
  if (outcome === 'pays') return { result: 'paid' };
  if (outcome === 'asks')
    return { result: 'asks', message: 'This payment requires additional user action before it can be completed.' };
  return { result: 'declined', message: 'Your card was declined.' };
}

/** Marks an invoice as paid, by whatever means, and wakes its subscription. */
export function settle(provider: Provider, invoice: Invoice): void {
  const at = timeOfCustomer(provider, invoice.customer);
  invoice.status = 'paid';
  invoice.amount_paid = invoice.amount_due;
  invoice.amount_remaining = 0;
  invoice.attempted = true;
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = at;
  announce(provider, 'invoice.paid', invoice);
  announce(provider, 'invoice.payment_succeeded', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
  else if (subscription) wake(provider, subscription, invoice);
}

/** A paid invoice makes its subscription active where it was the last thing owed. */
function wake(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const { status } = subscription;
  const isFirst = status === 'incomplete' && invoice.billing_reason === 'subscription_create';
  const owed = status === 'past_due' || status === 'unpaid';
  if (!isFirst && !(owed && subscription.latest_invoice === invoice.id)) return;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'active';
  });
}

function fail(provider: Provider, invoice: Invoice, result: 'declined' | 'asks' | 'no_card', manual: boolean): void {
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  const isFirst = invoice.billing_reason === 'subscription_create';
  const end = isFirst || manual ? null : dunningAfterFailure(provider, invoice);
  announce(provider, 'invoice.payment_failed', invoice);
  if (result === 'asks') announce(provider, 'invoice.payment_action_required', invoice);
  if (!subscription || isFirst) return;
  if (subscription.status === 'paused') afterFailedAttempt(provider, subscription, invoice);
  if (subscription.status === 'active' || subscription.status === 'trialing') owe(provider, subscription, invoice);
  end?.(subscription);
}

/** The first failure of a payment: past due, or by a setting paused where a renewal failed. */
function owe(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const pauses = provider.state.switches.first_failure === 'pause' && invoice.billing_reason === 'subscription_cycle';
  if (pauses && canPause(subscription)) {
    pauseFor(provider, subscription, 'first_payment_failure');
    return;
  }
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'past_due';
  });
}

export function voidInvoice(provider: Provider, invoice: Invoice): void {
  invoice.status = 'void';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.voided_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.voided', invoice);
  const id = invoice.parent.subscription_details.subscription;
  // The subscription stays paused, and can be resumed anew.
  if (provider.state.resumptions[id]?.invoice === invoice.id) delete provider.state.resumptions[id];
}

export function markUncollectible(provider: Provider, invoice: Invoice): void {
  invoice.status = 'uncollectible';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.marked_uncollectible_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.marked_uncollectible', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
}

/** A line that the next invoice takes along. */
export function addPendingLine(provider: Provider, subscription: Subscription, line: InvoiceLine): void {
  provider.state.pending_lines[subscription.id] = [...(provider.state.pending_lines[subscription.id] ?? []), line];
}
