import { timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Charge, Invoice } from '../provider/records.ts';
import { refused } from '../routing/api-error.ts';
import { newCharge, newPaymentIntent } from './payment-objects.ts';

/**
 * Stores the payment of an invoice: its payment intent, its charge, and the link between invoice
 * and payment. Refunds and disputes start from it. Failed attempts are not stored.
 */
export function recordPayment(provider: Provider, invoice: Invoice, methodId: string): void {
  const method = provider.state.payment_methods[methodId];
  if (!method || invoice.amount_due === 0) return;
  const at = timeOfCustomer(provider, invoice.customer);
  const intent = newPaymentIntent(invoice, method, at);
  const charge = newCharge(invoice, intent, method);
  intent.latest_charge = charge.id;
  const id = newId('inpay');
  provider.state.payment_intents[intent.id] = intent;
  provider.state.charges[charge.id] = charge;
  provider.state.invoice_payments[id] = {
    id,
    object: 'invoice_payment',
    amount_paid: intent.amount,
    amount_requested: intent.amount,
    created: at,
    currency: intent.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'paid',
    status_transitions: { canceled_at: null, paid_at: at },
  };
}

/**
 * Returns the charge by which an invoice was paid.
 *
 * @throws ApiError if the invoice was not paid, or by no charge: through a credit, or outside of the provider.
 */
export function chargeOf(provider: Provider, invoice: Invoice): Charge {
  const payment = Object.values(provider.state.invoice_payments).find((one) => one.invoice === invoice.id);
  const found = Object.values(provider.state.charges).find(
    (charge) => charge.payment_intent === payment?.payment.payment_intent,
  );
  if (found) return found;
  throw refused(`The invoice \`${invoice.id}\` was not paid by a charge.`, { param: 'invoice' });
}
