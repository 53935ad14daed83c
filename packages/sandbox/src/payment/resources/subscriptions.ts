import type Stripe from 'stripe';
import { change } from '../announce.ts';
import { ApiError, missing, refused } from '../api/api-error.ts';
import { createdIn, inRange, listPage } from '../api/lists.ts';
import { mergeMetadata, pageRules, type Rule, rangeRule } from '../api/parameters.ts';
import { type Call, route } from '../api/route.ts';
import { timeOfCustomer } from '../clock.ts';
import { endSubscription, isFinal, noDetails, periodEnd } from '../end-subscription.ts';
import { tryCharge } from '../invoice.ts';
import type { Provider } from '../provider.ts';
import type { Subscription } from '../records.ts';
import { resumePaused } from '../resume-paused.ts';
import { startSubscription } from '../start-subscription.ts';
import { refuseContradiction, updateSubscription } from '../update-subscription.ts';
import { liveCustomer } from './customers.ts';
import { findPrice } from './prices.ts';

const behaviours = ['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'pending_if_incomplete'];
const prorations = ['always_invoice', 'create_prorations', 'none'];
const trialRules: Rule = {
  hash: {
    end_behavior: {
      hash: { missing_payment_method: { one: ['cancel', 'create_invoice', 'pause'] }, billing_cycle_anchor: 'ignored' },
    },
  },
};

const shared = {
  add_invoice_items: 'unsupported',
  application_fee_percent: 'unsupported',
  automatic_tax: 'ignored',
  billing_schedules: 'unsupported',
  billing_thresholds: 'unsupported',
  cancel_at: { either: ['integer', { one: ['', 'min_period_end', 'max_period_end'] }] },
  cancel_at_period_end: 'boolean',
  collection_method: { one: ['charge_automatically'] },
  days_until_due: 'unsupported',
  default_payment_method: 'text',
  default_source: 'unsupported',
  default_tax_rates: 'unsupported',
  description: 'text',
  discounts: 'unsupported',
  invoice_settings: 'unsupported',
  metadata: 'metadata',
  off_session: 'ignored',
  on_behalf_of: 'unsupported',
  payment_behavior: { one: behaviours },
  payment_settings: 'ignored',
  pending_invoice_item_interval: 'unsupported',
  proration_behavior: { one: prorations },
  transfer_data: 'unsupported',
  trial_end: { either: ['integer', { one: ['now'] }] },
  trial_from_plan: 'ignored',
  trial_settings: trialRules,
} as const satisfies Record<string, Rule>;

const item = {
  id: 'string',
  price: 'string',
  quantity: 'integer',
  deleted: 'boolean',
  metadata: 'metadata',
  plan: 'unsupported',
  price_data: 'unsupported',
  tax_rates: 'unsupported',
  discounts: 'unsupported',
  billing_thresholds: 'unsupported',
  clear_usage: 'ignored',
  current_trial: 'unsupported',
} as const satisfies Record<string, Rule>;

const detailsRule: Rule = { hash: { comment: 'text', feedback: 'text', feedback_option: 'unsupported' } };

export const subscriptionRoutes = [
  route<Stripe.SubscriptionCreateParams>(
    'POST',
    '/v1/subscriptions',
    {
      ...shared,
      backdate_start_date: 'unsupported',
      billing_cycle_anchor: 'unsupported',
      billing_cycle_anchor_config: 'unsupported',
      billing_mode: { hash: { type: { one: ['classic', 'flexible'] }, flexible: 'ignored' }, required: ['type'] },
      currency: 'string',
      customer: 'string',
      customer_account: 'unsupported',
      items: { list: { hash: item, required: ['price'] } },
      trial_period_days: 'integer',
    },
    create,
    ['customer', 'items'],
  ),
  route<Stripe.SubscriptionRetrieveParams>('GET', '/v1/subscriptions/:id', {}, ({ provider, id }) =>
    find(provider, id),
  ),
  route<Stripe.SubscriptionUpdateParams>(
    'POST',
    '/v1/subscriptions/:id',
    {
      ...shared,
      billing_cycle_anchor: 'unsupported',
      cancellation_details: detailsRule,
      items: { list: { hash: item } },
      pause_collection: 'unsupported',
      proration_date: 'unsupported',
    },
    ({ provider, id, params }) => updateSubscription(provider, find(provider, id), params),
  ),
  route<Stripe.SubscriptionListParams>(
    'GET',
    '/v1/subscriptions',
    {
      ...pageRules,
      automatic_tax: 'unsupported',
      collection_method: 'string',
      created: rangeRule,
      current_period_end: rangeRule,
      current_period_start: rangeRule,
      customer: 'string',
      customer_account: 'unsupported',
      plan: 'string',
      price: 'string',
      status: 'string',
      test_clock: 'string',
    },
    list,
  ),
  route<Stripe.SubscriptionCancelParams>(
    'DELETE',
    '/v1/subscriptions/:id',
    { cancellation_details: detailsRule, invoice_now: 'ignored', prorate: 'ignored' },
    cancel,
  ),
  route<Stripe.SubscriptionResumeParams>(
    'POST',
    '/v1/subscriptions/:id/resume',
    {
      billing_cycle_anchor: { one: ['now', 'unchanged'] },
      payment_behavior: 'ignored',
      proration_behavior: { one: prorations },
      proration_date: 'unsupported',
    },
    ({ provider, id }) => resumePaused(provider, find(provider, id)),
  ),
];

export function find(provider: Provider, id: string, param = 'id'): Subscription {
  const subscription = provider.state.subscriptions[id];
  if (!subscription) throw missing('subscription', id, param);
  return subscription;
}

function create({ provider, params }: Call<Stripe.SubscriptionCreateParams>): Subscription {
  refuseContradiction(params);
  const customer = liveCustomer(provider, params.customer ?? '', 'customer');
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
  const behaviour = params.payment_behavior ?? 'allow_incomplete';
  const trialEnd = readTrialEnd(provider, customer.id, params);
  const method = params.default_payment_method || null;
  if (method && provider.state.payment_methods[method]?.customer !== customer.id)
    throw missing('PaymentMethod', method, 'default_payment_method');
  if (trialEnd === null && behaviour !== 'default_incomplete') {
    refuseUnpayable(provider, method ?? customer.invoice_settings.default_payment_method, behaviour);
  }
  const subscription = startSubscription(provider, {
    customer: customer.id,
    items,
    metadata: mergeMetadata({}, params.metadata),
    description: params.description || null,
    paymentMethod: method,
    trialEnd,
    missingPaymentMethod: params.trial_settings?.end_behavior?.missing_payment_method ?? 'create_invoice',
    billingMode: params.billing_mode?.type === 'classic' ? 'classic' : 'flexible',
    payFirstInvoice: behaviour !== 'default_incomplete',
  });
  if (params.cancel_at_period_end || params.cancel_at) {
    updateSubscription(provider, subscription, {
      ...(params.cancel_at_period_end !== undefined && { cancel_at_period_end: params.cancel_at_period_end }),
      ...(params.cancel_at !== undefined && { cancel_at: params.cancel_at }),
    });
  }
  return subscription;
}

function readTrialEnd(provider: Provider, customer: string, params: Stripe.SubscriptionCreateParams): number | null {
  if (typeof params.trial_end === 'number') return params.trial_end;
  if (params.trial_period_days) return timeOfCustomer(provider, customer) + params.trial_period_days * 86_400;
  return null;
}

function refuseUnpayable(provider: Provider, method: string | null, behaviour: string): void {
  const charge = tryCharge(provider, method, false);
  if (charge.result === 'no_card')
    throw refused(`${charge.message} Please consider adding a default payment method.`, { code: 'resource_missing' });
  if (charge.result !== 'paid' && behaviour === 'error_if_incomplete') {
    throw new ApiError(402, charge.message, {
      type: 'card_error',
      code: 'card_declined',
      declineCode: 'generic_decline',
    });
  }
}

function list({ provider, params, path }: Call<Stripe.SubscriptionListParams>) {
  const all = Object.values(provider.state.subscriptions).filter(
    (one) =>
      hasStatus(one, params.status) &&
      createdIn(one, params.created) &&
      inRange(periodEnd(one), params.current_period_end) &&
      inRange(one.items.data[0]?.current_period_start, params.current_period_start) &&
      (params.customer === undefined || one.customer === params.customer) &&
      (params.test_clock === undefined || one.test_clock === params.test_clock) &&
      (params.collection_method === undefined || one.collection_method === params.collection_method) &&
      [params.price, params.plan].every(
        (id) => id === undefined || one.items.data.some(({ price }) => price.id === id),
      ),
  );
  return listPage(path, all, params, 'subscription');
}

/** Without a wanted status, all that have not been canceled. */
function hasStatus(subscription: Subscription, wanted: string | undefined): boolean {
  if (wanted === undefined) return subscription.status !== 'canceled';
  if (wanted === 'all') return true;
  if (wanted === 'ended') return isFinal(subscription);
  return subscription.status === wanted;
}

/** Ends a subscription at once. One that has ended is no longer found, as with the real provider. */
function cancel({ provider, id, params }: Call<Stripe.SubscriptionCancelParams>): Subscription {
  const subscription = find(provider, id);
  if (isFinal(subscription)) throw missing('subscription', id);
  const { comment, feedback } = params.cancellation_details ?? {};
  subscription.cancellation_details = {
    ...noDetails(),
    ...subscription.cancellation_details,
    ...(comment !== undefined && { comment: comment || null }),
    ...(feedback !== undefined && { feedback: feedback || null }),
  };
  endSubscription(provider, subscription, 'cancellation_requested');
  return subscription;
}

/** Sets a status that no request leads to, in an event as any other change. For tests. */
export function forceStatus(provider: Provider, id: string, status: string): Subscription {
  return change(provider, 'customer.subscription.updated', find(provider, id), (subscription) => {
    subscription.status = status as Subscription['status'];
  });
}
