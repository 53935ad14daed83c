import { addressIn } from '../customers/address.ts';
import { usePaymentMethod } from '../customers/payment-methods.ts';
import type { Outcome, TestMethod } from '../customers/test-method.ts';
import { findTestMethod, saveTestMethod } from '../customers/test-methods.ts';
import { findCoupon } from '../discounts/coupons.ts';
import { amountOff } from '../discounts/discount.ts';
import { usableCode } from '../discounts/promotion-codes.ts';
import { announce, change } from '../events/announce.ts';
import { refusalOf } from '../pages/method-fields.ts';
import { daySeconds, timeOf, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { CheckoutSession, Customer } from '../provider/records.ts';
import { startSubscription } from '../subscriptions/start-subscription.ts';

/** The result of a payment: the URL that the browser is redirected to, or the sentence that the page shows. */
export type Payment = { paid: true; location: string } | { paid: false; message: string };

/** What the buyer enters on the page beside the card. The page has only the fields that the session asks for. */
export interface Buyer {
  email?: string;
  name?: string;
  /** The country of the billing address, as two letters. */
  country?: string;
  taxId?: string;
  promotionCode?: string;
}

/**
 * Pays a checkout session with a card or bank account, as on the hosted page: the subscription starts and the
 * session is complete, though still unpaid where the debit of the bank account takes days. If the
 * card is declined, nothing changes and the session stays open. Where the session does not require a payment method, '' is none. An authentication that the card
 * requires is taken as completed.
 */
export function payCheckout(provider: Provider, session: CheckoutSession, number: string, buyer: Buyer = {}): Payment {
  if (session.status !== 'open') return { paid: false, message: 'This checkout is no longer open.' };
  const skips = number === '' && session.payment_method_collection === 'if_required';
  const wanted = findTestMethod(number);
  const sentence = skips ? null : refusalOf(wanted, session.currency ?? '', session.payment_method_types);
  if ((!wanted && !skips) || sentence) return { paid: false, message: sentence ?? '' };
  if (wanted && useOf(provider, session, wanted) === 'declines') {
    return { paid: false, message: 'Your card was declined. Try another card.' };
  }
  if (buyer.promotionCode && !applyCode(provider, session, buyer.promotionCode))
    return { paid: false, message: 'This code is invalid.' };
  const customer = customerOf(provider, session, buyer);
  if (!customer) return { paid: false, message: 'The customer of this checkout no longer exists.' };

  const settings = provider.state.checkout_settings[session.id] ?? {};
  const trialEnd =
    settings.trial_end ??
    (settings.trial_period_days
      ? timeOfCustomer(provider, customer.id) + settings.trial_period_days * daySeconds
      : null);
  updateCustomer(provider, customer, session, buyer);
  const method = wanted && usePaymentMethod(provider, saveTestMethod(provider, wanted, null).id, customer);
  const subscription = startSubscription(provider, {
    customer: customer.id,
    items: session.line_items.data.map(({ price, quantity }) => ({
      price: provider.state.prices[price.id] ?? price,
      quantity,
    })),
    metadata: settings.metadata ?? {},
    ...(session.currency && { currency: session.currency }),
    description: settings.description ?? null,
    paymentMethod: method?.id ?? null,
    trialEnd,
    billingMode: settings.billing_mode ?? 'flexible',
    automaticTax: session.automatic_tax.enabled,
    discounts: {
      named: (session.discounts ?? []).map(({ promotion_code }) => ({ promotion_code: String(promotion_code) })),
      checkout: session.id,
    },
    onSession: true,
    ...(settings.missing_payment_method && { missingPaymentMethod: settings.missing_payment_method }),
  });
  const delayed = provider.state.debits[subscription.latest_invoice ?? ''] !== undefined;
  session.payment_status = trialEnd !== null ? 'no_payment_required' : delayed ? 'unpaid' : 'paid';
  session.subscription = subscription.id;
  session.invoice = subscription.latest_invoice;
  complete(provider, session, customer, buyer);
  return { paid: true, location: successAddress(session) };
}

/** Lowers a session's total by a code that the buyer enters, in place of an earlier one. Returns false if it is not valid here. */
export function applyCode(provider: Provider, session: CheckoutSession, text: string): boolean {
  if (session.allow_promotion_codes !== true) return false;
  const code = usableCode(provider, text, session);
  if (code === null) return false;
  const total = session.amount_subtotal ?? 0;
  const amount = amountOff(findCoupon(provider, code.promotion.coupon), total);
  session.discounts = [{ coupon: null, promotion_code: code.id }];
  session.amount_total = total - amount;
  if (session.total_details) session.total_details.amount_discount = amount;
  return true;
}

/** Returns the result of a payment method here: of its charge, or of saving it where a trial makes the first charge later. */
export function useOf(provider: Provider, session: CheckoutSession, method: TestMethod): Outcome {
  const { trial_end: end, trial_period_days: days } = provider.state.checkout_settings[session.id] ?? {};
  return end === undefined && days === undefined ? method.onSession : method.saved;
}

function complete(provider: Provider, session: CheckoutSession, customer: Customer, buyer: Buyer): void {
  session.status = 'complete';
  session.customer = customer.id;
  session.customer_details = {
    address: buyer.country ? addressIn(buyer.country) : null,
    business_name: null,
    email: customer.email ?? (buyer.email || null),
    individual_name: null,
    name: buyer.name || (customer.name ?? null),
    phone: null,
    tax_exempt: 'none',
    tax_ids: buyer.taxId ? [{ type: 'unknown', value: buyer.taxId }] : [],
  };
  if (session.automatic_tax.enabled) session.automatic_tax.status = 'complete';
  session.url = null;
  announce(provider, 'checkout.session.completed', withoutLines(session));
}

/** Saves what the buyer entered: always in a customer that the checkout made, else where `customer_update` says so. */
function updateCustomer(provider: Provider, customer: Customer, session: CheckoutSession, buyer: Buyer): void {
  const isNew = session.customer === null;
  const { customer_update: update } = provider.state.checkout_settings[session.id] ?? {};
  change(provider, 'customer.updated', customer, () => {
    if (buyer.name && (isNew || update?.name === 'auto')) customer.name = buyer.name;
    if (buyer.country && (isNew || update?.address === 'auto')) customer.address = addressIn(buyer.country);
    if (buyer.email) customer.email ??= buyer.email;
  });
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
export function withoutLines({ line_items: _, ...session }: CheckoutSession): object {
  return session;
}

function customerOf(provider: Provider, session: CheckoutSession, buyer: Buyer): Customer | undefined {
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
    email: session.customer_email ?? (buyer.email || null),
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
