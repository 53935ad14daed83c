import type Stripe from 'stripe';
import type { CheckoutSettings, Debit, Delivery, Resumption, SavedAnswer, TaxCountry } from './bookkeeping.ts';
import type {
  Charge,
  CheckoutSession,
  Coupon,
  CurrencyOption,
  Customer,
  Discount,
  Dispute,
  FraudWarning,
  Invoice,
  InvoiceLine,
  InvoicePayment,
  PaymentIntent,
  PaymentMethod,
  PortalConfiguration,
  PortalSession,
  Price,
  Product,
  PromotionCode,
  ProviderEvent,
  Refund,
  Subscription,
  SubscriptionSchedule,
  TestClock,
  WebhookEndpoint,
} from './records.ts';
import { defaultSwitches, type Switches } from './switches.ts';

/** Records of one kind by their id, oldest first. */
export type Records<T> = Record<string, T>;

/** The whole state of a provider, stored as one JSON document. */
export interface PaymentState {
  customers: Records<Customer>;
  deleted_customers: Records<Stripe.DeletedCustomer>;
  products: Records<Product>;
  prices: Records<Price>;
  coupons: Records<Coupon>;
  promotion_codes: Records<PromotionCode>;
  discounts: Records<Discount>;
  /** The amounts of each price by currency, its own one included. */
  currency_options: Records<Record<string, CurrencyOption>>;
  payment_methods: Records<PaymentMethod>;
  checkout_sessions: Records<CheckoutSession>;
  portal_configurations: Records<PortalConfiguration>;
  portal_sessions: Records<PortalSession>;
  subscriptions: Records<Subscription>;
  subscription_schedules: Records<SubscriptionSchedule>;
  invoices: Records<Invoice>;
  payment_intents: Records<PaymentIntent>;
  charges: Records<Charge>;
  invoice_payments: Records<InvoicePayment>;
  refunds: Records<Refund>;
  disputes: Records<Dispute>;
  fraud_warnings: Records<FraudWarning>;
  events: Records<ProviderEvent>;
  webhook_endpoints: Records<WebhookEndpoint>;
  /** Event destinations with thin payloads. */
  thin_destinations: Records<Stripe.V2.Core.EventDestination>;
  test_clocks: Records<TestClock>;
  /** The settings of checkout sessions that their JSON does not show, by session. */
  checkout_settings: Records<CheckoutSettings>;
  /** Lines that wait for the next invoice of a subscription, by subscription. */
  pending_lines: Records<InvoiceLine[]>;
  /** Bank debits that have not ended, by invoice. */
  debits: Records<Debit>;
  /** Open invoices whose due date has passed. */
  overdue_invoices: Records<true>;
  /** Resumptions whose invoice has not been paid, by subscription. */
  resumptions: Records<Resumption>;
  /** Paused subscriptions whose unused time was credited, by subscription. */
  paused_credits: Records<true>;
  /** Subscriptions whose event trial_will_end has been sent. */
  announced_trials: Records<true>;
  /** The countries in which the account is registered for tax. */
  tax_countries: TaxCountry[];
  deliveries: Delivery[];
  saved_answers: Records<SavedAnswer>;
  switches: Switches;
  /** How far the provider's clock is ahead of the machine's clock, in seconds. */
  clock_offset_seconds: number;
  next_invoice_number: number;
}

/** Returns the state of a new provider, without any object. */
export function emptyState(): PaymentState {
  return {
    customers: newRecords(),
    deleted_customers: newRecords(),
    products: newRecords(),
    prices: newRecords(),
    coupons: newRecords(),
    promotion_codes: newRecords(),
    discounts: newRecords(),
    currency_options: newRecords(),
    payment_methods: newRecords(),
    checkout_sessions: newRecords(),
    portal_configurations: newRecords(),
    portal_sessions: newRecords(),
    subscriptions: newRecords(),
    subscription_schedules: newRecords(),
    invoices: newRecords(),
    payment_intents: newRecords(),
    charges: newRecords(),
    invoice_payments: newRecords(),
    refunds: newRecords(),
    disputes: newRecords(),
    fraud_warnings: newRecords(),
    events: newRecords(),
    webhook_endpoints: newRecords(),
    thin_destinations: newRecords(),
    test_clocks: newRecords(),
    checkout_settings: newRecords(),
    pending_lines: newRecords(),
    debits: newRecords(),
    overdue_invoices: newRecords(),
    resumptions: newRecords(),
    paused_credits: newRecords(),
    announced_trials: newRecords(),
    tax_countries: [],
    deliveries: [],
    saved_answers: newRecords(),
    switches: defaultSwitches(),
    clock_offset_seconds: 0,
    next_invoice_number: 1,
  };
}

/** Returns an object without a prototype, so that an id like "constructor" finds nothing. */
function newRecords<T>(records: Records<T> = {}): Records<T> {
  return Object.assign(Object.create(null), records);
}

/** Completes a state that was read from a file: its records have no prototype, and missing switches get their default. */
export function restoreState(state: PaymentState): void {
  const members = state as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(emptyState())) {
    const isRecords = typeof value === 'object' && Object.getPrototypeOf(value) === null;
    if (isRecords) members[name] = newRecords(members[name] as Records<unknown>);
  }
  state.tax_countries ??= [];
  state.switches = { ...defaultSwitches(), ...state.switches };
}
