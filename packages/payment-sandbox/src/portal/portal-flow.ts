import type Stripe from 'stripe';
import { requireCurrency } from '../catalogue/price-currencies.ts';
import { findPrice } from '../catalogue/prices.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalConfiguration, PortalSession, Subscription } from '../provider/records.ts';
import { missingParameter, refused } from '../routing/api-error.ts';
import type { Rule } from '../routing/parameters.ts';
import { isFinal } from '../subscriptions/end-subscription.ts';
import { findSubscription } from '../subscriptions/subscriptions.ts';

type FlowData = NonNullable<Stripe.BillingPortal.SessionCreateParams['flow_data']>;
type Flow = NonNullable<PortalSession['flow']>;

export const flowRules: Rule = {
  hash: {
    type: {
      one: [
        'customer_update',
        'payment_method_update',
        'subscription_cancel',
        'subscription_update',
        'subscription_update_confirm',
      ],
    },
    after_completion: {
      hash: {
        type: { one: ['hosted_confirmation', 'portal_homepage', 'redirect'] },
        hosted_confirmation: { hash: { custom_message: 'string' } },
        redirect: { hash: { return_url: 'string' }, required: ['return_url'] },
      },
      required: ['type'],
    },
    subscription_cancel: { hash: { subscription: 'string', retention: 'unsupported' }, required: ['subscription'] },
    subscription_pause: 'unsupported',
    subscription_update: { hash: { subscription: 'string' }, required: ['subscription'] },
    subscription_update_confirm: {
      hash: {
        subscription: 'string',
        items: { list: { hash: { id: 'string', price: 'string', quantity: 'integer' }, required: ['id'] } },
        discounts: 'unsupported',
      },
      required: ['subscription', 'items'],
    },
  },
  required: ['type'],
};

/**
 * Reads the flow of a portal session, its single task.
 *
 * @throws ApiError if the configuration disables it, or the subscription does not allow it.
 */
export function readFlow(
  provider: Provider,
  customer: string,
  configuration: PortalConfiguration,
  data: FlowData,
): Flow {
  if (provider.state.switches.portal_refuses_flows) {
    throw refused('The portal refuses flows, because the switch portal_refuses_flows of the sandbox is on.', {
      param: 'flow_data',
    });
  }
  const { features } = configuration;
  const flow: Flow = {
    after_completion: readCompletion(data),
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update: null,
    subscription_update_confirm: null,
    type: data.type,
  };
  const needed = {
    customer_update: features.customer_update,
    payment_method_update: features.payment_method_update,
    subscription_cancel: features.subscription_cancel,
    subscription_update: features.subscription_update,
    subscription_update_confirm: features.subscription_update,
  }[data.type as 'subscription_update'];
  if (!needed?.enabled) throw disabled(data.type);

  if (data.type === 'customer_update') flow.customer_update = {};
  if (data.type === 'subscription_cancel') {
    const { id, ...subscription } = ownSubscription(provider, customer, data, 'subscription_cancel');
    if (subscription.cancel_at !== null)
      throw refused('This subscription is already set to be canceled.', {
        param: 'flow_data[subscription_cancel][subscription]',
      });
    flow.subscription_cancel = { retention: null, subscription: id };
  }
  if (data.type === 'subscription_update') {
    const subscription = ownSubscription(provider, customer, data, 'subscription_update');
    requireOneItem(subscription, 'flow_data[subscription_update][subscription]');
    flow.subscription_update = { subscription: subscription.id };
  }
  if (data.type === 'subscription_update_confirm') {
    flow.subscription_update_confirm = readConfirm(provider, customer, configuration, data);
  }
  return flow;
}

function readConfirm(provider: Provider, customer: string, configuration: PortalConfiguration, data: FlowData) {
  const subscription = ownSubscription(provider, customer, data, 'subscription_update_confirm');
  const wanted = data.subscription_update_confirm?.items ?? [];
  const base = 'flow_data[subscription_update_confirm][items]';
  if (wanted.length !== 1) throw refused('The items array must hold exactly one item.', { param: base });
  requireOneItem(subscription, 'flow_data[subscription_update_confirm][subscription]');
  const offered = (configuration.features.subscription_update.products ?? []).flatMap(({ prices }) => prices);
  const items = wanted.map(({ id, price, quantity }, index) => {
    const item = subscription.items.data.find((one) => one.id === id);
    if (!item)
      throw refused(`The item \`${id}\` is not part of the subscription.`, {
        code: 'resource_missing',
        param: `${base}[${index}][id]`,
      });
    if (price !== undefined) {
      const found = findPrice(provider, price, `${base}[${index}][price]`);
      requireCurrency(provider, found, subscription.currency, `${base}[${index}][price]`);
      if (!offered.includes(price)) {
        throw refused(
          `The item \`${id}\` cannot be updated to price \`${price}\` because it is not included in the configuration under \`features[subscription_update][products]\`.`,
          { param: `${base}[${index}][price]` },
        );
      }
    }
    if ((price ?? item.price.id) === item.price.id && (quantity ?? item.quantity) === item.quantity) {
      throw refused('The subscription update flow has no changes to confirm.', { param: base });
    }
    return { id, price: price ?? item.price.id, quantity: quantity ?? item.quantity };
  });
  return { discounts: null, items, subscription: subscription.id };
}

/** The portal cannot change a subscription with several items. */
function requireOneItem({ id, items }: Subscription, param: string): void {
  if (items.data.length === 1) return;
  throw refused(`The subscription \`${id}\` cannot be updated because it has multiple items.`, { param });
}

function ownSubscription(
  provider: Provider,
  customer: string,
  data: FlowData,
  flow: 'subscription_cancel' | 'subscription_update' | 'subscription_update_confirm',
): Subscription {
  const param = `flow_data[${flow}][subscription]`;
  const id = data[flow]?.subscription;
  if (!id) throw missingParameter(param);
  const subscription = findSubscription(provider, id, param);
  if (subscription.customer !== customer)
    throw refused(`The subscription \`${id}\` does not belong to the customer.`, { param });
  if (isFinal(subscription) || subscription.status === 'incomplete') {
    throw refused(`The subscription \`${id}\` cannot be used because its status is \`${subscription.status}\`.`, {
      param,
    });
  }
  if (subscription.schedule !== null && flow !== 'subscription_cancel') {
    throw refused(`The subscription \`${id}\` cannot be updated because a schedule manages it.`, { param });
  }
  return subscription;
}

function readCompletion({ after_completion: after }: FlowData): Flow['after_completion'] {
  return {
    hosted_confirmation: after?.hosted_confirmation
      ? { custom_message: after.hosted_confirmation.custom_message ?? null }
      : null,
    redirect: after?.redirect ?? null,
    type: after?.type ?? 'portal_homepage',
  };
}

function disabled(type: string): Error {
  return refused(
    `This flow (\`${type}\`) cannot be used because its feature is disabled in the portal configuration.`,
    {
      param: 'flow_data[type]',
    },
  );
}
