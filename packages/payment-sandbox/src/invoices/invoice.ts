import { cardOf } from '../customers/cards.ts';
import { announce, change } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, InvoiceLine, Subscription } from '../provider/records.ts';
import { afterFailedAttempt, afterSettlement } from '../subscriptions/pause/end-pause.ts';
import { canPause, pauseFor } from '../subscriptions/pause/pause.ts';
import { dunningAfterFailure } from './dunning.ts';
import { type BillingReason, newInvoice, newLine } from './new-invoice.ts';

/**
 * Drafts an invoice of a subscription's items and its pending lines. The caller sets
 * `latest_invoice` and announces the subscription and the invoice, so that every state of a
 * subscription appears in an event.
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

/** Finalises a draft: sets its number and its final amount. */
export function finalizeInvoice(provider: Provider, invoice: Invoice): void {
  if (invoice.status !== 'draft') return;
  const at = timeOfCustomer(provider, invoice.customer);
  const customer = provider.state.customers[invoice.customer];
  const balance = customer?.balance ?? 0;
  // A negative total becomes a credit of the customer, which pays the next invoices.
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

export type Charge = { result: 'paid' } | { result: 'declined' | 'requires_action' | 'no_card'; message: string };

interface PayOptions {
  /** The payment was requested, so it does not count as a retry. */
  manual?: boolean;
  /** The payment method to charge; by default the subscription's, then the customer's. */
  paymentMethod?: string | undefined;
}

/**
 * Finalises an invoice, charges it, and updates its subscription according to the result. A
 * decline is a result, not an error.
 *
 * @throws Error if there is no such invoice.
 */
export function payNow(
  provider: Provider,
  invoiceId: string,
  onSession: boolean,
  { manual = false, paymentMethod }: PayOptions = {},
): Charge {
  const invoice = provider.state.invoices[invoiceId];
  if (!invoice) throw new Error(`There is no invoice ${invoiceId}.`);
  finalizeInvoice(provider, invoice);
  const method = paymentMethod ?? payingMethod(provider, invoice);
  const charge = invoice.amount_due === 0 ? ({ result: 'paid' } as const) : tryCharge(provider, method, onSession);
  if (invoice.amount_due > 0 && !(manual && invoice.attempted)) invoice.attempt_count += 1;
  invoice.attempted = true;
  if (charge.result === 'paid') settle(provider, invoice);
  else fail(provider, invoice, charge.result, manual);
  return charge;
}

/** Returns the payment method that an invoice is charged to: the subscription's, otherwise the customer's. */
function payingMethod(provider: Provider, invoice: Invoice): string | null {
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  const customer = provider.state.customers[invoice.customer];
  return subscription?.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null;
}

/** Returns the result that a charge would have. Changes nothing. */
export function tryCharge(provider: Provider, methodId: string | null, onSession: boolean): Charge {
  const card = methodId ? cardOf(provider.state.payment_methods[methodId]) : undefined;
  if (!card)
    return { result: 'no_card', message: 'This customer has no attached payment source or default payment method.' };
  const outcome = onSession ? card.onSession : card.offSession;
  if (outcome === 'pays') return { result: 'paid' };
  if (outcome === 'requires_action')
    return {
      result: 'requires_action',
      message: 'This payment requires additional user action before it can be completed.',
    };
  return { result: 'declined', message: 'Your card was declined.' };
}

/** Marks an invoice as paid and activates or resumes its subscription. */
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
  else if (subscription) activate(provider, subscription, invoice);
}

/** Makes a subscription active if the paid invoice was its first or its latest one. */
function activate(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const { status } = subscription;
  const isFirst = status === 'incomplete' && invoice.billing_reason === 'subscription_create';
  const owed = status === 'past_due' || status === 'unpaid';
  if (!isFirst && !(owed && subscription.latest_invoice === invoice.id)) return;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'active';
  });
}

function fail(
  provider: Provider,
  invoice: Invoice,
  result: 'declined' | 'requires_action' | 'no_card',
  manual: boolean,
): void {
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  const isFirst = invoice.billing_reason === 'subscription_create';
  const end = isFirst || manual ? null : dunningAfterFailure(provider, invoice);
  announce(provider, 'invoice.payment_failed', invoice);
  if (result === 'requires_action') announce(provider, 'invoice.payment_action_required', invoice);
  if (!subscription || isFirst) return;
  if (subscription.status === 'paused') afterFailedAttempt(provider, subscription, invoice);
  if (subscription.status === 'active' || subscription.status === 'trialing')
    markPastDue(provider, subscription, invoice);
  end?.(subscription);
}

/**
 * Makes a subscription past due after a failed payment. With the switch `first_failure`, a failed
 * renewal pauses it instead.
 */
function markPastDue(provider: Provider, subscription: Subscription, invoice: Invoice): void {
  const pauses = provider.state.switches.first_failure === 'pause' && invoice.billing_reason === 'subscription_cycle';
  if (pauses && canPause(subscription)) {
    pauseFor(provider, subscription, 'first_payment_failure');
    return;
  }
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'past_due';
  });
}

/** Voids an invoice, and ends a resumption that waits for it. */
export function voidInvoice(provider: Provider, invoice: Invoice): void {
  invoice.status = 'void';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.voided_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.voided', invoice);
  const id = invoice.parent.subscription_details.subscription;
  // The subscription stays paused, and its resumption can be requested again.
  if (provider.state.resumptions[id]?.invoice === invoice.id) delete provider.state.resumptions[id];
}

/** Marks an invoice as uncollectible, and settles the pause of its subscription. */
export function markUncollectible(provider: Provider, invoice: Invoice): void {
  invoice.status = 'uncollectible';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.marked_uncollectible_at = timeOfCustomer(provider, invoice.customer);
  announce(provider, 'invoice.marked_uncollectible', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status === 'paused') afterSettlement(provider, subscription, invoice);
}

/** Adds a line to the next invoice of a subscription. */
export function addPendingLine(provider: Provider, subscription: Subscription, line: InvoiceLine): void {
  provider.state.pending_lines[subscription.id] = [...(provider.state.pending_lines[subscription.id] ?? []), line];
}
