import type Stripe from 'stripe';
import type { Provider } from '../provider/provider.ts';
import type { Subscription, SubscriptionItem } from '../provider/records.ts';
import { missing } from '../routing/api-error.ts';
import { listPage } from '../routing/lists.ts';
import { pageRules, type Rule } from '../routing/parameters.ts';
import { type Call, route } from '../routing/route.ts';
import { findSubscription } from './subscriptions.ts';
import { type ItemChange, updateItems } from './update-items.ts';

const shared = {
  billing_thresholds: 'unsupported',
  current_trial: 'unsupported',
  discounts: 'unsupported',
  metadata: 'metadata',
  payment_behavior: { one: ['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'pending_if_incomplete'] },
  plan: 'unsupported',
  price: 'string',
  price_data: 'unsupported',
  proration_behavior: { one: ['always_invoice', 'create_prorations', 'none'] },
  proration_date: 'unsupported',
  quantity: 'integer',
  tax_rates: 'unsupported',
} as const satisfies Record<string, Rule>;

export const subscriptionItemRoutes = [
  route<Stripe.SubscriptionItemListParams>(
    'GET',
    '/v1/subscription_items',
    { ...pageRules, subscription: 'string' },
    ({ provider, params, path }) =>
      listPage(
        path,
        findSubscription(provider, params.subscription, 'subscription').items.data,
        params,
        'subscription item',
      ),
    ['subscription'],
  ),
  route<Stripe.SubscriptionItemRetrieveParams>(
    'GET',
    '/v1/subscription_items/:id',
    {},
    ({ provider, id }) => locate(provider, id).item,
  ),
  route<Stripe.SubscriptionItemCreateParams>(
    'POST',
    '/v1/subscription_items',
    { ...shared, subscription: 'string' },
    create,
    ['subscription', 'price'],
  ),
  route<Stripe.SubscriptionItemUpdateParams>(
    'POST',
    '/v1/subscription_items/:id',
    { ...shared, off_session: 'unsupported' },
    update,
  ),
  route<Stripe.SubscriptionItemDeleteParams>(
    'DELETE',
    '/v1/subscription_items/:id',
    {
      clear_usage: 'unsupported',
      payment_behavior: shared.payment_behavior,
      proration_behavior: shared.proration_behavior,
      proration_date: 'unsupported',
    },
    remove,
  ),
];

function locate(provider: Provider, id: string): { subscription: Subscription; item: SubscriptionItem } {
  for (const subscription of Object.values(provider.state.subscriptions)) {
    const item = subscription.items.data.find((one) => one.id === id);
    if (item) return { subscription, item };
  }
  throw missing('subscription_item', id);
}

function create({ provider, params }: Call<Stripe.SubscriptionItemCreateParams>): SubscriptionItem {
  const subscription = findSubscription(provider, params.subscription, 'subscription');
  const { price, quantity, metadata } = params;
  updateItems(provider, subscription, {
    changes: [{ price, quantity, metadata } as ItemChange],
    proration: params.proration_behavior,
    payment: params.payment_behavior,
  });
  return subscription.items.data.at(-1) as SubscriptionItem;
}

function update({ provider, id, params }: Call<Stripe.SubscriptionItemUpdateParams>): SubscriptionItem {
  const { subscription } = locate(provider, id);
  const { price, quantity, metadata } = params;
  updateItems(provider, subscription, {
    changes: [{ id, price, quantity, metadata } as ItemChange],
    proration: params.proration_behavior,
    payment: params.payment_behavior,
  });
  return locate(provider, id).item;
}

function remove({ provider, id, params }: Call<Stripe.SubscriptionItemDeleteParams>): Stripe.DeletedSubscriptionItem {
  const { subscription } = locate(provider, id);
  updateItems(provider, subscription, {
    changes: [{ id, deleted: true }],
    proration: params.proration_behavior,
    payment: params.payment_behavior,
  });
  return { id, object: 'subscription_item', deleted: true };
}
