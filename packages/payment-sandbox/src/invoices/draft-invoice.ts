import { discountInvoice } from '../discounts/discount.ts';
import { announce, change } from '../events/announce.ts';
import { timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, InvoiceLine, Subscription } from '../provider/records.ts';
import { taxInvoice } from '../tax/invoice-tax.ts';
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
  const items = lines ?? subscription.items.data.map((item) => newLine(provider, subscription, item, free ? 0 : null));
  const waiting = provider.state.pending_lines[subscription.id] ?? [];
  delete provider.state.pending_lines[subscription.id];
  setLines(provider, subscription, invoice, [...waiting, ...items]);
  provider.state.invoices[invoice.id] = invoice;
  return invoice;
}

/** Sets the lines of a draft, and the discounts and sums that follow from them. */
export function setLines(provider: Provider, subscription: Subscription, invoice: Invoice, lines: InvoiceLine[]): void {
  invoice.lines.data = lines.map((line) => ({ ...line, invoice: invoice.id }));
  const total = invoice.lines.data.reduce((sum, line) => sum + line.amount, 0);
  invoice.subtotal = invoice.subtotal_excluding_tax = total;
  discountInvoice(provider, subscription, invoice);
  const discount = (invoice.total_discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
  invoice.total = invoice.total_excluding_tax = total - discount;
  taxInvoice(provider, subscription, invoice);
  invoice.amount_due = invoice.amount_remaining = Math.max(0, invoice.total);
}

/** Finalises a draft: sets its number and its final amount. */
export function finalizeInvoice(provider: Provider, invoice: Invoice): void {
  if (invoice.status !== 'draft') return;
  const at = timeOfCustomer(provider, invoice.customer);
  const customer = provider.state.customers[invoice.customer];
  applyBalance(invoice, customer?.balance ?? 0);
  invoice.status = 'open';
  invoice.number = `SANDBOX-${String(provider.state.next_invoice_number++).padStart(4, '0')}`;
  invoice.effective_at = at;
  invoice.automatically_finalizes_at = null;
  invoice.hosted_invoice_url = `${provider.url}/pay/invoice/${invoice.id}`;
  invoice.invoice_pdf = `${provider.url}/pay/invoice/${invoice.id}/pdf`;
  invoice.status_transitions.finalized_at = at;
  announce(provider, 'invoice.finalized', invoice);
  if (!customer) return;
  change(provider, 'customer.updated', customer, () => {
    customer.balance = invoice.ending_balance ?? 0;
  });
}

/** Takes a customer's credit from what is due. A negative total becomes a credit, which pays the next invoices. */
export function applyBalance(invoice: Invoice, balance: number): void {
  const after = invoice.total < 0 ? balance + invoice.total : Math.min(0, balance + invoice.total);
  invoice.starting_balance = balance;
  invoice.ending_balance = balance < 0 || invoice.total < 0 ? after : balance;
  invoice.amount_due = invoice.amount_remaining = Math.max(0, invoice.total + Math.min(0, balance));
}

/** Adds a line to the next invoice of a subscription. */
export function addPendingLine(provider: Provider, subscription: Subscription, line: InvoiceLine): void {
  provider.state.pending_lines[subscription.id] = [...(provider.state.pending_lines[subscription.id] ?? []), line];
}
