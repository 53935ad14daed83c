import { priceIn } from '../catalogue/price-currencies.ts';
import { daySeconds, hourSeconds, timeOfCustomer } from '../provider/clock.ts';
import { newId } from '../provider/id.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, InvoiceLine, Subscription, SubscriptionItem } from '../provider/records.ts';

export type BillingReason = 'subscription_create' | 'subscription_cycle' | 'subscription_update';

/** Returns a new draft without lines. The draft of a renewal, and one that is sent, is finalised an hour later, as by the real provider. */
export function newInvoice(provider: Provider, subscription: Subscription, reason: BillingReason): Invoice {
  const at = timeOfCustomer(provider, subscription.customer);
  const customer = provider.state.customers[subscription.customer];
  const [item] = subscription.items.data;
  const id = newId('in');
  const isSent = subscription.collection_method === 'send_invoice';
  return {
    id,
    object: 'invoice',
    account_country: 'GB',
    account_name: 'Sandbox payments',
    account_tax_ids: null,
    amount_due: 0,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: 0,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatic_tax: automaticTax(subscription),
    automatically_finalizes_at: reason === 'subscription_cycle' || isSent ? at + hourSeconds : null,
    billing_reason: reason,
    collection_method: subscription.collection_method,
    created: at,
    currency: subscription.currency,
    custom_fields: null,
    customer: subscription.customer,
    customer_account: null,
    customer_address: customer?.address ?? null,
    customer_email: customer?.email ?? null,
    customer_name: customer?.name ?? null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    due_date: isSent ? at + (subscription.days_until_due ?? 30) * daySeconds : null,
    effective_at: null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: { object: 'list', data: [], has_more: false, url: `/v1/invoices/${id}/lines` },
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: null,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    // The period before the invoice; for the first invoice, its own time.
    period_end: at,
    period_start:
      reason === 'subscription_cycle' ? subscription.billing_cycle_anchor : (item?.current_period_start ?? at),
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'draft',
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal: 0,
    subtotal_excluding_tax: 0,
    test_clock: subscription.test_clock,
    total: 0,
    total_discount_amounts: [],
    total_excluding_tax: 0,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: null,
  };
}

/** The account has no tax registration, so that an automatic tax is always 0. */
function automaticTax({ automatic_tax: { enabled } }: Subscription): Invoice['automatic_tax'] {
  if (!enabled) return { disabled_reason: null, enabled, liability: null, provider: null, status: null };
  return { disabled_reason: null, enabled, liability: { type: 'self' }, provider: 'stripe', status: 'complete' };
}

/** Returns a new line for the period of one item. `amount` replaces the price, for trials and prorations. */
export function newLine(
  provider: Provider,
  subscription: Subscription,
  item: SubscriptionItem,
  amount: number | null = null,
  proration?: { description: string; start: number },
): InvoiceLine {
  const { quantity } = item;
  const price = priceIn(provider, item.price, subscription.currency);
  const sum = amount ?? (price.unit_amount ?? 0) * quantity;
  return {
    id: newId('il'),
    object: 'line_item',
    amount: sum,
    currency: price.currency,
    description: proration?.description ?? `${quantity} × ${price.nickname ?? price.lookup_key ?? price.id}`,
    discount_amounts: [],
    discountable: !proration,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata: subscription.metadata,
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: proration !== undefined,
        proration_details: null,
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: 'subscription_item_details',
    },
    period: { end: item.current_period_end, start: proration?.start ?? item.current_period_start },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: price.product },
      type: 'price_details',
      unit_amount_decimal: price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: String(quantity),
    subscription: subscription.id,
    subtotal: sum,
    taxes: [],
  };
}
