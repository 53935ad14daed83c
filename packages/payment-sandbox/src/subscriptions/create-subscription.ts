import type Stripe from 'stripe';
import { currencyOfSale } from '../catalogue/price-currencies.ts';
import { findPrice } from '../catalogue/prices.ts';
import { existingCustomer } from '../customers/customers.ts';
import type { Named } from '../discounts/discount.ts';
import { tryCharge } from '../invoices/charge.ts';
import { daySeconds, timeOfCustomer } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { ApiError, missing, refused } from '../routing/api-error.ts';
import { mergeMetadata } from '../routing/parameters.ts';
import type { Call } from '../routing/route.ts';
import { scheduleEnd } from './end-subscription.ts';
import { startSubscription } from './start-subscription.ts';
import { endAfter, readDaysUntilDue, requireOneEnd } from './update-subscription.ts';

/**
 * Performs POST /v1/subscriptions.
 *
 * @throws ApiError if the customer, a price or the payment method does not exist, if a price is not
 * recurring, or if the first payment fails and `payment_behavior` is error_if_incomplete.
 */
export function createSubscription({ provider, params }: Call<Stripe.SubscriptionCreateParams>): Subscription {
  requireOneEnd(params);
  const customer = existingCustomer(provider, params.customer ?? '', 'customer');
  const items = (params.items ?? []).map((wanted, index) => {
    const price = findPrice(provider, wanted.price ?? '', `items[${index}][price]`);
    if (!price.recurring)
      throw refused(
        'The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`.',
      );
    return { price, quantity: wanted.quantity ?? 1, metadata: mergeMetadata({}, wanted.metadata) };
  });
  if (items.length === 0)
    throw refused('Missing required param: items.', { code: 'parameter_missing', param: 'items' });
  const currency = currencyOfSale(
    provider,
    items.map(({ price }) => price),
    { wanted: params.currency, customer: customer.id },
  );
  const behaviour = params.payment_behavior ?? 'allow_incomplete';
  const trialEnd = readTrialEnd(provider, customer.id, params);
  const method = params.default_payment_method || null;
  if (method && provider.state.payment_methods[method]?.customer !== customer.id)
    throw missing('PaymentMethod', method, 'default_payment_method');
  const daysUntilDue = readDaysUntilDue(params.collection_method, params.days_until_due);
  if (trialEnd === null && behaviour !== 'default_incomplete' && daysUntilDue === null) {
    requirePayable(provider, method ?? customer.invoice_settings.default_payment_method, behaviour);
  }
  const subscription = startSubscription(provider, {
    customer: customer.id,
    items,
    currency,
    metadata: mergeMetadata({}, params.metadata),
    description: params.description || null,
    paymentMethod: method,
    trialEnd,
    missingPaymentMethod: params.trial_settings?.end_behavior?.missing_payment_method ?? 'create_invoice',
    billingMode: params.billing_mode?.type === 'classic' ? 'classic' : 'flexible',
    daysUntilDue,
    discounts: { named: (params.discounts || []) as Named[], checkout: null },
    payFirstInvoice: behaviour !== 'default_incomplete',
  });
  const end = endAfter(provider, subscription, params);
  if (end) scheduleEnd(provider, subscription, end.wanted);
  return subscription;
}

function readTrialEnd(provider: Provider, customer: string, params: Stripe.SubscriptionCreateParams): number | null {
  const { trial_end: end, trial_period_days: days } = params;
  if (end !== undefined && days !== undefined)
    throw refused('You may only specify one of these parameters: trial_end, trial_period_days.');
  if (typeof end === 'number' && end <= timeOfCustomer(provider, customer))
    throw refused('Invalid timestamp: must be an integer Unix timestamp in the future.', { param: 'trial_end' });
  if (typeof end === 'number') return end;
  if (params.trial_period_days) return timeOfCustomer(provider, customer) + params.trial_period_days * daySeconds;
  return null;
}

function requirePayable(provider: Provider, method: string | null, behaviour: string): void {
  const charge = tryCharge(provider, method, {});
  if (charge.result === 'no_card')
    throw refused(`${charge.message} Please consider adding a default payment method.`, { code: 'resource_missing' });
  if (charge.result !== 'paid' && charge.result !== 'processing' && behaviour === 'error_if_incomplete') {
    throw new ApiError(402, charge.message, {
      type: 'card_error',
      code: 'card_declined',
      declineCode: 'generic_decline',
    });
  }
}
