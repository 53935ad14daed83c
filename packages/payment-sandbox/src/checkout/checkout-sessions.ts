import type Stripe from 'stripe';
import { currencyOfSale, priceIn } from '../catalogue/price-currencies.ts';
import { findPrice } from '../catalogue/prices.ts';
import { existingCustomer, knownCustomer } from '../customers/customers.ts';
import type { CheckoutSettings } from '../provider/bookkeeping.ts';
import { daySeconds, hourSeconds, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { CheckoutSession, LineItem, Price } from '../provider/records.ts';
import { missing, missingParameter, refused } from '../routing/api-error.ts';
import { createdIn, listPage } from '../routing/lists.ts';
import { mergeMetadata, pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { checkConditions } from './checkout-conditions.ts';
import { createRules } from './checkout-rules.ts';
import { newSession } from './new-checkout-session.ts';
import { expireSession } from './pay-checkout.ts';

type Params = Stripe.Checkout.SessionCreateParams;

export const checkoutSessionRoutes = [
  route<Params>('POST', '/v1/checkout/sessions', createRules, create),
  route<Stripe.Checkout.SessionRetrieveParams>('GET', '/v1/checkout/sessions/:id', {}, ({ provider, id }) =>
    findSession(provider, id),
  ),
  route<Stripe.Checkout.SessionListParams>(
    'GET',
    '/v1/checkout/sessions',
    {
      ...pageRules,
      created: rangeRule,
      customer: 'string',
      customer_account: 'unsupported',
      customer_details: { hash: { email: 'string' } },
      payment_intent: 'unsupported',
      payment_link: 'unsupported',
      status: { one: ['complete', 'expired', 'open'] },
      subscription: 'string',
    },
    list,
  ),
  route<Stripe.Checkout.SessionExpireParams>('POST', '/v1/checkout/sessions/:id/expire', {}, expire),
  route<Stripe.Checkout.SessionListLineItemsParams>(
    'GET',
    '/v1/checkout/sessions/:id/line_items',
    { ...pageRules },
    ({ provider, id, params, path }) => listPage(path, findSession(provider, id).line_items.data, params, 'line item'),
  ),
];

/** @throws ApiError resource_missing if there is no such checkout session. */
function findSession(provider: Provider, id: string): CheckoutSession {
  const session = provider.state.checkout_sessions[id];
  if (!session) throw missing('checkout.session', id);
  return session;
}

function create({ provider, params }: Call<Params>): CheckoutSession {
  const customer = params.customer ? existingCustomer(provider, params.customer, 'customer') : null;
  const prices = (params.line_items ?? []).map((wanted, index) => {
    if (!wanted.price) throw missingParameter(`line_items[${index}][price]`);
    return priceForSale(provider, wanted.price, `line_items[${index}][price]`);
  });
  const at = timeOfCustomer(provider, params.customer ?? '');
  checkConditions(params, customer, at);
  const currency = currencyOfSale(provider, prices, { wanted: params.currency, customer: customer?.id ?? null });
  const lines = prices.map((price, index) => {
    const { quantity = 1, metadata } = params.line_items?.[index] ?? {};
    return newLineItem(priceIn(provider, price, currency), price, quantity, mergeMetadata({}, metadata));
  });
  const expiresAt = params.expires_at ?? at + daySeconds;
  if (expiresAt < at + hourSeconds / 2 || expiresAt > at + daySeconds) {
    throw refused(
      'The `expires_at` timestamp must be at least 30 minutes and at most 24 hours from Checkout Session creation.',
      { param: 'expires_at' },
    );
  }
  const session = newSession(provider, params, lines, at, expiresAt);
  provider.state.checkout_sessions[session.id] = session;
  provider.state.checkout_settings[session.id] = settingsOf(params);
  return session;
}

function priceForSale(provider: Provider, id: string, param: string): Price {
  const price = findPrice(provider, id, param);
  if (!price.active)
    throw refused('The price specified is inactive. This field only accepts active prices.', { param });
  if (!price.recurring)
    throw refused('You must provide at least one recurring price in `subscription` mode when using prices.', { param });
  return price;
}

function settingsOf({ subscription_data: data, customer_update }: Params): CheckoutSettings {
  const missingMethod = data?.trial_settings?.end_behavior.missing_payment_method;
  return {
    metadata: mergeMetadata({}, data?.metadata),
    ...(customer_update && { customer_update: { name: customer_update.name, address: customer_update.address } }),
    ...(data?.description && { description: data.description }),
    ...(data?.trial_period_days && { trial_period_days: data.trial_period_days }),
    ...(data?.trial_end && { trial_end: data.trial_end }),
    ...(missingMethod && { missing_payment_method: missingMethod }),
    ...(data?.billing_mode && { billing_mode: data.billing_mode.type === 'classic' ? 'classic' : 'flexible' }),
  };
}

function newLineItem(sold: Price, price: Price, quantity: number, metadata: Record<string, string>): LineItem {
  const amount = (sold.unit_amount ?? 0) * quantity;
  return {
    id: newId('li', 14),
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: 0,
    amount_total: amount,
    currency: sold.currency,
    description: price.nickname,
    metadata,
    price: structuredClone(price),
    quantity,
  };
}

function list({ provider, params, path }: Call<Stripe.Checkout.SessionListParams>) {
  if (params.customer) knownCustomer(provider, params.customer, 'customer');
  const all = Object.values(provider.state.checkout_sessions).filter(
    (session) =>
      createdIn(session, params.created) &&
      (params.customer === undefined || session.customer === params.customer) &&
      (params.status === undefined || session.status === params.status) &&
      (params.subscription === undefined || session.subscription === params.subscription) &&
      (params.customer_details === undefined || session.customer_details?.email === params.customer_details.email),
  );
  return listPage(path, all, params, 'checkout.session');
}

function expire({ provider, id }: Call<Stripe.Checkout.SessionExpireParams>): CheckoutSession {
  const session = findSession(provider, id);
  if (session.status !== 'open') {
    throw refused(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`,
    );
  }
  expireSession(provider, session);
  return session;
}
