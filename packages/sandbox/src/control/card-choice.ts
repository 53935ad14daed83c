import { last4Of, testMethodsFor } from '@gatehouse/payment-sandbox/customers/test-methods';
import { type Html, html } from '@gatehouse/payment-sandbox/http/html';
import type { Subscription } from '@gatehouse/payment-sandbox/provider/records';
import type { PaymentState } from '@gatehouse/payment-sandbox/provider/state';

/** Renders a form with the card or bank account of a subscription, to choose one that fails at the next renewal. */
export function cardChoice(state: PaymentState, subscription: Subscription): Html | string {
  const standard = state.customers[subscription.customer]?.invoice_settings.default_payment_method;
  const last4 = last4Of(state.payment_methods[subscription.default_payment_method ?? standard ?? '']);
  if (subscription.ended_at !== null) return '';
  return html`<form method="post" action="/control/card"><input type="hidden" name="customer" value="${subscription.customer}"><select name="card" aria-label="Card of ${subscription.id}">${testMethodsFor(
    subscription.currency,
  )
    .filter(({ saved }) => saved !== 'declines')
    .map(
      ({ number, about }) =>
        html`<option value="${number}"${number.endsWith(last4 ?? 'none') && html` selected`}>…${number.slice(-4)} ${about}</option>`,
    )}</select> <button>Set</button></form>`;
}
