import { announce, change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import type { Step } from '../provider/step.ts';
import { finalizeInvoice } from './draft-invoice.ts';
import { settle } from './settle-invoice.ts';

/** Finalises an invoice that the customer is to pay by its due date, and announces that it was sent. */
export function sendInvoice(provider: Provider, invoice: Invoice): void {
  finalizeInvoice(provider, invoice);
  if (invoice.amount_due === 0) settle(provider, invoice);
  else announce(provider, 'invoice.sent', invoice);
}

/** Yields the passing of the due date of an open invoice. */
export function* stepsOfDueDate(provider: Provider, invoice: Invoice): Generator<Step> {
  if (invoice.status !== 'open' || invoice.due_date === null || provider.state.overdue_invoices[invoice.id]) return;
  const run = () => passDueDate(provider, invoice);
  yield { at: invoice.due_date, about: 'an invoice that was sent is overdue', run };
}

function passDueDate(provider: Provider, invoice: Invoice): void {
  provider.state.overdue_invoices[invoice.id] = true;
  announce(provider, 'invoice.overdue', invoice);
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  if (subscription?.status !== 'active') return;
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'past_due';
  });
}
