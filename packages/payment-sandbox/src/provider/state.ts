import type Stripe from 'stripe';
import type { Delivery, Resumption, SavedAnswer, SubscriptionData } from './bookkeeping.ts';
import type {
  CheckoutSession,
  Customer,
  Invoice,
  InvoiceLine,
  PaymentMethod,
  PortalConfiguration,
  PortalSession,
  Price,
  Product,
  ProviderEvent,
  Subscription,
  SubscriptionSchedule,
  TestClock,
  WebhookEndpoint,
} from './records.ts';
import { defaultSwitches, type Switches } from './switches.ts';

/** Records of one kind by their id, oldest first. */
export type Shelf<T> = Record<string, T>;

/** The whole state of a provider, stored as one JSON document. */
export interface PaymentState {
  customers: Shelf<Customer>;
  deleted_customers: Shelf<Stripe.DeletedCustomer>;
  products: Shelf<Product>;
  prices: Shelf<Price>;
  payment_methods: Shelf<PaymentMethod>;
  checkout_sessions: Shelf<CheckoutSession>;
  portal_configurations: Shelf<PortalConfiguration>;
  portal_sessions: Shelf<PortalSession>;
  subscriptions: Shelf<Subscription>;
  subscription_schedules: Shelf<SubscriptionSchedule>;
  invoices: Shelf<Invoice>;
  events: Shelf<ProviderEvent>;
  webhook_endpoints: Shelf<WebhookEndpoint>;
  test_clocks: Shelf<TestClock>;
  /** The settings that checkout sessions pass on to their subscriptions, by session. */
  subscription_data: Shelf<SubscriptionData>;
  /** Lines that wait for the next invoice of a subscription, by subscription. */
  pending_lines: Shelf<InvoiceLine[]>;
  /** Resumptions whose invoice has not been paid, by subscription. */
  resumptions: Shelf<Resumption>;
  /** Paused subscriptions whose unused time was credited. */
  paused_credits: Shelf<true>;
  /** Subscriptions whose event trial_will_end has been sent. */
  announced_trials: Shelf<true>;
  deliveries: Delivery[];
  saved_answers: Shelf<SavedAnswer>;
  switches: Switches;
  /** How far the provider's clock is ahead of the machine's clock. */
  clock_offset_seconds: number;
  next_invoice_number: number;
}

export function emptyState(): PaymentState {
  return {
    customers: shelf(),
    deleted_customers: shelf(),
    products: shelf(),
    prices: shelf(),
    payment_methods: shelf(),
    checkout_sessions: shelf(),
    portal_configurations: shelf(),
    portal_sessions: shelf(),
    subscriptions: shelf(),
    subscription_schedules: shelf(),
    invoices: shelf(),
    events: shelf(),
    webhook_endpoints: shelf(),
    test_clocks: shelf(),
    subscription_data: shelf(),
    pending_lines: shelf(),
    resumptions: shelf(),
    paused_credits: shelf(),
    announced_trials: shelf(),
    deliveries: [],
    saved_answers: shelf(),
    switches: defaultSwitches(),
    clock_offset_seconds: 0,
    next_invoice_number: 1,
  };
}

/** An object without a prototype, so that an id like "constructor" finds nothing. */
function shelf<T>(records: Shelf<T> = {}): Shelf<T> {
  return Object.assign(Object.create(null), records);
}

/** Completes a state that was read from a file: its records have no prototype, and missing switches get their default. */
export function restoreState(state: PaymentState): void {
  const members = state as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(emptyState())) {
    const isShelf = typeof value === 'object' && Object.getPrototypeOf(value) === null;
    if (isShelf) members[name] = shelf(members[name] as Shelf<unknown>);
  }
  state.switches = { ...defaultSwitches(), ...state.switches };
}
