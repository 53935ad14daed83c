import type { Named } from '../discounts/discount.ts';
import { addInterval, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Plan, Price, Subscription, SubscriptionItem } from '../provider/records.ts';
import { noDetails } from './end-subscription.ts';

export interface NewSubscription {
  customer: string;
  items: { price: Price; quantity: number; metadata?: Record<string, string> }[];
  metadata: Record<string, string>;
  /** One of the currencies of its prices; by default that of the first one. */
  currency?: string;
  description?: string | null;
  /** The payment method of this subscription; by default the customer's. */
  paymentMethod?: string | null;
  trialEnd?: number | null;
  missingPaymentMethod?: string;
  billingMode?: 'classic' | 'flexible';
  /** Whether tax is computed automatically. The account has no registration, so that the tax is 0. */
  automaticTax?: boolean;
  /** False: the first invoice is not charged, and the subscription is incomplete until it is paid. */
  payFirstInvoice?: boolean;
  /** Days after which an invoice that is sent is due; null: invoices are charged. */
  daysUntilDue?: number | null;
  /** Its discounts, and the checkout in which the buyer entered their code. */
  discounts?: { named: Named[]; checkout: string | null };
  /** True: the customer pays the first invoice on a page. */
  onSession?: boolean;
}

/** Returns a new subscription before its first payment: incomplete, in its trial, or active if invoices are sent. */
export function newSubscription(provider: Provider, input: NewSubscription): Subscription {
  const at = timeOfCustomer(provider, input.customer);
  const id = newId('sub');
  const trialEnd = input.trialEnd ?? null;
  const items = input.items.map(({ price, quantity, metadata }) =>
    newItem(id, price, quantity, at, trialEnd ?? firstPeriodEnd(price, at), metadata),
  );
  return {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: {
      disabled_reason: null,
      enabled: input.automaticTax ?? false,
      liability: input.automaticTax ? { type: 'self' } : null,
    },
    billing_cycle_anchor: trialEnd ?? at,
    billing_cycle_anchor_config: null,
    billing_mode:
      input.billingMode === 'classic'
        ? { flexible: null, type: 'classic' }
        : { flexible: { proration_discounts: 'included' }, type: 'flexible', updated_at: at },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: noDetails(),
    collection_method: input.daysUntilDue == null ? 'charge_automatically' : 'send_invoice',
    created: at,
    currency: input.currency ?? items[0]?.price.currency ?? 'gbp',
    customer: input.customer,
    customer_account: null,
    days_until_due: input.daysUntilDue ?? null,
    default_payment_method: input.paymentMethod ?? null,
    default_source: null,
    default_tax_rates: [],
    description: input.description ?? null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: { object: 'list', data: items, has_more: false, url: `/v1/subscription_items?subscription=${id}` },
    latest_invoice: null,
    livemode: false,
    managed_payments: null,
    metadata: input.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: at,
    status: trialEnd !== null ? 'trialing' : input.daysUntilDue == null ? 'incomplete' : 'active',
    test_clock: provider.state.customers[input.customer]?.test_clock ?? null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: {
      end_behavior: {
        missing_payment_method: (input.missingPaymentMethod ?? 'create_invoice') as 'create_invoice',
        billing_cycle_anchor: 'unchanged',
      },
    },
    trial_start: trialEnd === null ? null : at,
  };
}

/** Returns a new item whose period has these bounds, in seconds. */
export function newItem(
  subscription: string,
  price: Price,
  quantity: number,
  start: number,
  end: number,
  metadata: Record<string, string> = {},
): SubscriptionItem {
  return {
    id: newId('si', 14),
    object: 'subscription_item',
    billing_thresholds: null,
    created: start,
    current_period_end: end,
    current_period_start: start,
    current_trial: null,
    discounts: [],
    metadata,
    plan: planOf(price),
    price: structuredClone(price),
    quantity,
    subscription,
    tax_rates: [],
  };
}

/** Returns the end of a price's first period, in seconds. */
export function firstPeriodEnd(price: Price, from: number): number {
  return addInterval(from, price.recurring?.interval ?? 'month', price.recurring?.interval_count ?? 1);
}

/** Returns a price in the older shape `plan`, which items still have. */
export function planOf(price: Price): Plan {
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  };
}
