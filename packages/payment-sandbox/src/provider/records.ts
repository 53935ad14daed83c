import type Stripe from 'stripe';

/**
 * The objects of the API as they are stored and sent. They are the SDK's own types, so that
 * a missing member does not compile, with two differences: references are ids, which become
 * objects only when expanded, and decimals are text.
 */
export type Product = Omit<Stripe.Product, 'deleted' | 'default_price'> & { default_price: string | null };

export type Price = Omit<Stripe.Price, 'deleted' | 'product' | 'unit_amount_decimal' | 'currency_options'> & {
  product: string;
  unit_amount_decimal: string | null;
};

/** The amount of a price in one currency, the members of an entry of its `currency_options`. */
export type CurrencyOption = Omit<Stripe.Price.CurrencyOptions, 'unit_amount_decimal' | 'tiers'> & {
  unit_amount_decimal: string | null;
};

export type Plan = Omit<Stripe.Plan, 'deleted' | 'product' | 'amount_decimal'> & {
  product: string;
  amount_decimal: string | null;
};

export type Customer = Omit<Stripe.Customer, 'deleted' | 'invoice_settings' | 'test_clock'> & {
  invoice_settings: Omit<Stripe.Customer.InvoiceSettings, 'default_payment_method'> & {
    default_payment_method: string | null;
  };
  test_clock: string | null;
};

export type PaymentMethod = Omit<Stripe.PaymentMethod, 'customer'> & { customer: string | null };

export type SubscriptionItem = Omit<Stripe.SubscriptionItem, 'deleted' | 'price' | 'plan' | 'quantity'> & {
  price: Price;
  plan: Plan;
  quantity: number;
};

export type Subscription = Omit<
  Stripe.Subscription,
  | 'customer'
  | 'items'
  | 'latest_invoice'
  | 'default_payment_method'
  | 'test_clock'
  | 'pending_update'
  | 'schedule'
  | 'discounts'
> & {
  customer: string;
  discounts: string[];
  items: Stripe.ApiList<SubscriptionItem>;
  latest_invoice: string | null;
  default_payment_method: string | null;
  test_clock: string | null;
  pending_update: null;
  schedule: string | null;
};

export type Coupon = Omit<Stripe.Coupon, 'deleted'>;

export type PromotionCode = Omit<Stripe.PromotionCode, 'customer' | 'promotion'> & {
  customer: string | null;
  promotion: { coupon: string; type: 'coupon' };
};

export type Discount = Omit<Stripe.Discount, 'deleted' | 'customer' | 'promotion_code' | 'source'> & {
  customer: string;
  promotion_code: string | null;
  source: { coupon: string; type: 'coupon' };
};

export type SchedulePhase = Omit<Stripe.SubscriptionSchedule.Phase, 'items'> & {
  items: (Omit<Stripe.SubscriptionSchedule.Phase.Item, 'price' | 'plan'> & {
    price: string;
    plan: string;
    quantity: number;
  })[];
};

export type SubscriptionSchedule = Omit<
  Stripe.SubscriptionSchedule,
  'customer' | 'subscription' | 'test_clock' | 'phases'
> & {
  customer: string;
  subscription: string | null;
  test_clock: string | null;
  phases: SchedulePhase[];
};

export type InvoiceLine = Omit<Stripe.InvoiceLineItem, 'pricing' | 'quantity_decimal' | 'subscription'> & {
  pricing: {
    price_details: { price: string; product: string };
    type: 'price_details';
    unit_amount_decimal: string | null;
  };
  quantity_decimal: string | null;
  subscription: string | null;
};

export type Invoice = Omit<
  Stripe.Invoice,
  'deleted' | 'customer' | 'lines' | 'parent' | 'default_payment_method' | 'test_clock'
> & {
  customer: string;
  lines: Stripe.ApiList<InvoiceLine>;
  parent: {
    quote_details: null;
    subscription_details: { metadata: Stripe.Metadata; subscription: string };
    type: 'subscription_details';
  };
  default_payment_method: string | null;
  test_clock: string | null;
};

export type LineItem = Omit<Stripe.LineItem, 'price'> & { price: Price; quantity: number };

export type CheckoutSession = Omit<Stripe.Checkout.Session, 'customer' | 'invoice' | 'subscription' | 'line_items'> & {
  customer: string | null;
  invoice: string | null;
  subscription: string | null;
  line_items: Stripe.ApiList<LineItem>;
};

export type PortalConfiguration = Stripe.BillingPortal.Configuration;
export type PortalSession = Omit<Stripe.BillingPortal.Session, 'configuration'> & { configuration: string };
export type WebhookEndpoint = Omit<Stripe.WebhookEndpoint, 'deleted'>;
export type TestClock = Omit<Stripe.TestHelpers.TestClock, 'deleted'>;

export type PaymentIntent = Omit<Stripe.PaymentIntent, 'customer' | 'latest_charge'> & {
  customer: string;
  latest_charge: string | null;
};

export type Charge = Omit<Stripe.Charge, 'customer' | 'payment_intent'> & { customer: string; payment_intent: string };

export type InvoicePayment = Omit<Stripe.InvoicePayment, 'invoice' | 'payment'> & {
  invoice: string;
  payment: { payment_intent: string; type: 'payment_intent' };
};

export type Refund = Omit<Stripe.Refund, 'charge'> & { charge: string };
export type Dispute = Omit<Stripe.Dispute, 'charge'> & { charge: string };
export type FraudWarning = Omit<Stripe.Radar.EarlyFraudWarning, 'charge'> & { charge: string };

/** An event of any type. The SDK's type is a union of the types it knows, and the sandbox can send others. */
export type ProviderEvent = Omit<Stripe.EventBase, 'type' | 'data'> & {
  type: string;
  data: { object: object; previous_attributes?: object };
};
