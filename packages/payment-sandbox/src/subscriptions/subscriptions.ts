import type Stripe from 'stripe';
import { knownCustomer } from '../customers/customers.ts';
import { change } from '../events/announce.ts';
import type { Provider } from '../provider/provider.ts';
import type { Subscription } from '../provider/records.ts';
import { missing } from '../routing/api-error.ts';
import { createdIn, inRange, listPage } from '../routing/lists.ts';
import { pageRules, rangeRule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { createSubscription } from './create-subscription.ts';
import { endSubscription, isFinal, noDetails, periodEnd } from './end-subscription.ts';
import { pauseOnRequest } from './pause/pause.ts';
import { pauseCollectionRule } from './pause/pause-collection.ts';
import { resumePaused } from './pause/resume-paused.ts';
import { detailsRule, itemRules, prorations, sharedRules } from './subscription-rules.ts';
import { updateSubscription } from './update-subscription.ts';

export const subscriptionRoutes = [
  route<Stripe.SubscriptionCreateParams>(
    'POST',
    '/v1/subscriptions',
    {
      ...sharedRules,
      backdate_start_date: 'unsupported',
      billing_cycle_anchor: 'unsupported',
      billing_cycle_anchor_config: 'unsupported',
      billing_mode: { hash: { type: { one: ['classic', 'flexible'] }, flexible: 'unsupported' }, required: ['type'] },
      currency: 'string',
      customer: 'string',
      customer_account: 'unsupported',
      default_payment_method: 'string',
      items: { list: { hash: itemRules, required: ['price'] } },
      trial_period_days: 'integer',
    },
    createSubscription,
    ['customer', 'items'],
  ),
  route<Stripe.SubscriptionRetrieveParams>('GET', '/v1/subscriptions/:id', {}, ({ provider, id }) =>
    findSubscription(provider, id),
  ),
  route<Stripe.SubscriptionUpdateParams>(
    'POST',
    '/v1/subscriptions/:id',
    {
      ...sharedRules,
      billing_cycle_anchor: 'unsupported',
      cancellation_details: detailsRule,
      default_payment_method: 'text',
      items: { list: { hash: itemRules } },
      pause_collection: pauseCollectionRule,
      proration_date: 'unsupported',
    },
    ({ provider, id, params }) => updateSubscription(provider, findSubscription(provider, id), params),
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
    { cancellation_details: detailsRule, invoice_now: 'unsupported', prorate: 'unsupported' },
    cancel,
  ),
  route<Stripe.SubscriptionResumeParams>(
    'POST',
    '/v1/subscriptions/:id/resume',
    {
      billing_cycle_anchor: { hash: { type: { one: ['now', 'unchanged'] } }, required: ['type'] },
      payment_behavior: { one: ['resume_on_payment_attempt', 'resume_on_payment_success'] },
      proration_behavior: { one: prorations },
      proration_date: 'unsupported',
    },
    ({ provider, id, params }) => resumePaused(provider, findSubscription(provider, id), params),
  ),
  route<Stripe.SubscriptionPauseParams>(
    'POST',
    '/v1/subscriptions/:id/pause',
    {
      bill_for: {
        hash: {
          outstanding_usage_through: 'unsupported',
          unused_time_from: {
            hash: { type: { one: ['item_current_period_start', 'none', 'now'] } },
            required: ['type'],
          },
        },
      },
      invoicing_behavior: { one: ['pending_invoice_item'] },
      type: { one: ['subscription'] },
    },
    ({ provider, id, params }) => pauseOnRequest(provider, findSubscription(provider, id), params),
  ),
];

/** @throws ApiError resource_missing if there is no such subscription. */
export function findSubscription(provider: Provider, id: string, param = 'id'): Subscription {
  const subscription = provider.state.subscriptions[id];
  if (!subscription) throw missing('subscription', id, param);
  return subscription;
}

function list({ provider, params, path }: Call<Stripe.SubscriptionListParams>) {
  if (params.customer) knownCustomer(provider, params.customer, 'customer');
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

/** Without a status filter, all subscriptions but canceled ones. */
function hasStatus(subscription: Subscription, wanted: string | undefined): boolean {
  if (wanted === undefined) return subscription.status !== 'canceled';
  if (wanted === 'all') return true;
  if (wanted === 'ended') return isFinal(subscription);
  return subscription.status === wanted;
}

/** Ends a subscription at once. An ended one is answered 404, as by the real provider. */
function cancel({ provider, id, params }: Call<Stripe.SubscriptionCancelParams>): Subscription {
  const subscription = findSubscription(provider, id);
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

/**
 * Sets any status and announces the change, for tests.
 *
 * @throws ApiError resource_missing if there is no such subscription.
 */
export function forceStatus(provider: Provider, id: string, status: string): Subscription {
  return change(provider, 'customer.subscription.updated', findSubscription(provider, id), (subscription) => {
    subscription.status = status as Subscription['status'];
    delete subscription.status_details;
  });
}
