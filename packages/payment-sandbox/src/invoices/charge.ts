import { testMethodOf } from '../customers/test-methods.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice } from '../provider/records.ts';

/** The result of a charge. One that is processing succeeds or fails days later. */
export type Charge =
  | { result: 'paid' }
  | { result: 'processing'; clears: boolean }
  | { result: 'declined' | 'requires_action' | 'no_card'; message: string };

/** How a charge is made. */
interface ChargeTerms {
  /** True: the customer pays on a page. */
  onSession?: boolean;
  /** True: the customer has authenticated the payment on that page. */
  authenticated?: boolean;
  /** Why the charged invoice was made, because a card can decline the charge of a plan change alone. */
  reason?: Invoice['billing_reason'];
}

/** Returns the result that a charge would have. Changes nothing. */
export function tryCharge(provider: Provider, methodId: string | null, terms: ChargeTerms): Charge {
  const method = methodId ? testMethodOf(provider.state.payment_methods[methodId]) : undefined;
  if (!method) {
    return { result: 'no_card', message: 'This customer has no attached payment source or default payment method.' };
  }
  const outcome = terms.onSession ? method.onSession : method.offSession;
  if (outcome === 'declines' || (method.planChange === 'declines' && terms.reason === 'subscription_update')) {
    return { result: 'declined', message: 'Your card was declined.' };
  }
  if (outcome === 'authenticates' && !terms.authenticated) {
    return {
      result: 'requires_action',
      message: 'This payment requires additional user action before it can be completed.',
    };
  }
  if (outcome === 'clears' || outcome === 'bounces') return { result: 'processing', clears: outcome === 'clears' };
  return { result: 'paid' };
}

/** Returns the payment method that an invoice is charged to: the subscription's, otherwise the customer's. */
export function payingMethod(provider: Provider, invoice: Invoice): string | null {
  const subscription = provider.state.subscriptions[invoice.parent.subscription_details.subscription];
  const customer = provider.state.customers[invoice.customer];
  return subscription?.default_payment_method ?? customer?.invoice_settings.default_payment_method ?? null;
}
