import { createHmac } from 'node:crypto';

type Changed = { id: string; subscriptionId: string; changes: number; created: number };

/** Returns the body and the headers of an event of the payment provider, which tells the changes of a subscription. */
export function makeEvent({ id, subscriptionId, changes, created }: Changed, secret: string) {
  const body = JSON.stringify({
    id,
    object: 'event',
    api_version: '2026-10-28.endive',
    created,
    data: {
      object: subscriptionOf(subscriptionId, changes),
      previous_attributes: { latest_invoice: `in_${changes - 1}` },
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: 'customer.subscription.updated',
  });
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'payment-signature': `t=${time},v1=${signature}` } };
}

const now = Math.floor(Date.now() / 1000);

/** Returns a subscription in the provider's form, with the fields that make up most of an event's size. */
export function subscriptionOf(id: string, changes: number) {
  return {
    id,
    object: 'subscription',
    application: null,
    billing_cycle_anchor: now - 86_400,
    billing_mode: { type: 'flexible' },
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    collection_method: 'charge_automatically',
    created: now - 86_400,
    currency: 'gbp',
    customer: id.replace('sub_', 'cus_'),
    default_payment_method: 'pm_1',
    description: null,
    items: {
      object: 'list',
      data: [
        {
          id: `si_${id}`,
          object: 'subscription_item',
          created: now - 86_400,
          current_period_end: now + 2_000_000,
          current_period_start: now - 86_400,
          metadata: {},
          price: {
            id: 'price_silver',
            object: 'price',
            active: true,
            currency: 'gbp',
            lookup_key: 'silver_monthly',
            product: 'prod_silver',
            recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
            type: 'recurring',
            unit_amount: 2400,
          },
          quantity: 1,
        },
      ],
      has_more: false,
      total_count: 1,
    },
    latest_invoice: `in_${changes}`,
    livemode: false,
    metadata: { tier: 'silver' },
    schedule: null,
    start_date: now - 86_400,
    status: 'active',
    trial_end: null,
  };
}
