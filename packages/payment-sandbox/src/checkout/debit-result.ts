import { announce } from '../events/announce.ts';
import { fail } from '../invoices/pay-invoice.ts';
import { settle, voidInvoice } from '../invoices/settle-invoice.ts';
import type { Debit } from '../provider/bookkeeping.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';
import type { Step } from '../provider/step.ts';
import { withoutLines } from './pay-checkout.ts';

/** Yields the end of a bank debit. */
export function* stepsOfDebit(provider: Provider, debit: Debit): Generator<Step> {
  const about = debit.clears ? 'a bank debit clears' : 'a bank debit bounces';
  yield { at: debit.ends_at, about, run: () => endDebit(provider, debit) };
}

/**
 * Ends a bank debit. One that bounces is a failed payment. The first invoice of a subscription is
 * void after that, and the subscription stays active, as at the real provider.
 */
function endDebit(provider: Provider, debit: Debit): void {
  delete provider.state.debits[debit.invoice];
  const invoice = provider.state.invoices[debit.invoice];
  if (!invoice) return;
  if (debit.clears) settle(provider, invoice, debit.method);
  else bounce(provider, invoice);
  announceSession(provider, invoice, debit.clears);
}

function bounce(provider: Provider, invoice: Invoice): void {
  fail(provider, invoice, 'declined', false);
  if (invoice.billing_reason === 'subscription_create') voidInvoice(provider, invoice);
}

function announceSession(provider: Provider, invoice: Invoice, clears: boolean): void {
  const session = Object.values(provider.state.checkout_sessions).find((one) => one.invoice === invoice.id);
  if (session?.payment_status !== 'unpaid') return;
  if (clears) session.payment_status = 'paid';
  const type = clears ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed';
  announce(provider, type, withoutLines(session));
}
