import { findCard, saveCard } from '../customers/cards.ts';
import { usePaymentMethod } from '../customers/payment-methods.ts';
import { announce } from '../events/announce.ts';
import { daySeconds, timeOf, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { CheckoutSession, Customer } from '../provider/records.ts';
import { startSubscription } from '../subscriptions/start-subscription.ts';

/** The result of a payment: the URL that the browser is redirected to, or the sentence that the page shows. */
export type Payment = { paid: true; location: string } | { paid: false; message: string };

/**
 * Pays a checkout session with a card, as on the hosted page: the subscription starts and the
 * session is complete. If the card is declined, nothing changes and the session stays open.
 */
export function payCheckout(provider: Provider, session: CheckoutSession, number: string, email = ''): Payment {
  if (session.status !== 'open') return { paid: false, message: 'This checkout is no longer open.' };
  const card = findCard(number);
  if (!card) return { paid: false, message: 'This is not a test card. Choose one of those listed.' };
  if (card.onSession === 'declines') return { paid: false, message: 'Your card was declined. Try another card.' };
  const customer = customerOf(provider, session, email);
  if (!customer) return { paid: false, message: 'The customer of this checkout no longer exists.' };

  const data = provider.state.subscription_data[session.id] ?? {};
  const trialEnd =
    data.trial_end ??
    (data.trial_period_days ? timeOfCustomer(provider, customer.id) + data.trial_period_days * daySeconds : null);
  const method = usePaymentMethod(provider, saveCard(provider, card, null).id, customer);
  const subscription = startSubscription(provider, {
    customer: customer.id,
    items: session.line_items.data.map(({ price, quantity }) => ({
      price: provider.state.prices[price.id] ?? price,
      quantity,
    })),
    metadata: data.metadata ?? {},
    description: data.description ?? null,
    paymentMethod: method.id,
    trialEnd,
    billingMode: data.billing_mode ?? 'flexible',
    onSession: true,
    ...(data.missing_payment_method && { missingPaymentMethod: data.missing_payment_method }),
  });
  session.status = 'complete';
  session.payment_status = trialEnd === null ? 'paid' : 'no_payment_required';
  session.customer = customer.id;
  session.customer_details = {
    address: null,
    business_name: null,
    email: customer.email ?? (email || null),
    individual_name: null,
    name: customer.name ?? null,
    phone: null,
    tax_exempt: 'none',
    tax_ids: [],
  };
  session.subscription = subscription.id;
  session.invoice = subscription.latest_invoice;
  session.url = null;
  announce(provider, 'checkout.session.completed', withoutLines(session));
  return { paid: true, location: successAddress(session) };
}

/** Returns the URL to which the browser returns after payment, with the session's id in place of its placeholder. */
function successAddress(session: CheckoutSession): string {
  return (session.success_url ?? '/').replaceAll('{CHECKOUT_SESSION_ID}', session.id);
}

/** Expires an open session, and announces it. */
export function expireSession(provider: Provider, session: CheckoutSession): void {
  session.status = 'expired';
  session.url = null;
  announce(provider, 'checkout.session.expired', withoutLines(session));
}

/** Events show a session without its lines, like an answer that does not expand them. */
function withoutLines({ line_items: _, ...session }: CheckoutSession): object {
  return session;
}

function customerOf(provider: Provider, session: CheckoutSession, email: string): Customer | undefined {
  if (session.customer) return provider.state.customers[session.customer];
  const customer: Customer = {
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: 0,
    created: timeOf(provider, null),
    currency: session.currency,
    default_source: null,
    delinquent: false,
    description: null,
    email: session.customer_email ?? (email || null),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    name: null,
    shipping: null,
    test_clock: null,
  };
  provider.state.customers[customer.id] = customer;
  announce(provider, 'customer.created', customer);
  return customer;
}
