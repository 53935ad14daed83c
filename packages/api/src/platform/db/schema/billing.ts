import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { ChargedMethod, CustomerInvoice, NextInvoice } from '../../providers/payment/customer-invoices.ts';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

/** The customer of each organisation at the payment provider: one at a time. */
export const paymentCustomers = pgTable(
  'payment_customers',
  {
    organisationId: uuid('organisation_id')
      .primaryKey()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    /** Counts the requests for a customer: a part of their idempotency key. A dead customer and a failed request raise it. */
    number: integer('number').notNull().default(1),
    /** Null until the provider has answered the request for the customer. */
    customerId: text('customer_id').unique(),
    createdAt: moment('created_at').notNull(),
    /** When the customer was found to be deleted at the provider; the next action of the organisation makes another one. */
    goneAt: moment('gone_at'),
    /** The currency that an administrator chose; null for the deployment's. A subscription's own comes first. */
    currency: text('currency'),
    /** The e-mail address that the provider was last given; differs from the organisation's while a push is due. */
    contactEmail: text('contact_email'),
    /** A problem that an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider'] }),
  },
  (table) => [
    // What the erasure of a user with this address looks for.
    index('payment_customers_contact_email').on(table.contactEmail).where(sql`${table.contactEmail} is not null`),
  ],
);

/** The leases: which process may ask the provider about an organisation, and until when at most. */
export const paymentLeases = pgTable('payment_leases', {
  name: text('name').primaryKey(),
  holder: uuid('holder').notNull(),
  endsAt: moment('ends_at').notNull(),
});

export const paymentCheckouts = pgTable(
  'payment_checkouts',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    priceId: text('price_id').notNull(),
    openedAt: moment('opened_at').notNull(),
    closedAt: moment('closed_at'),
  },
  (table) => [
    index('payment_checkouts_organisation').on(table.organisationId),
    index('payment_checkouts_open').on(table.openedAt).where(sql`${table.closedAt} is null`),
  ],
);

/** The columns of a subscription's row that the provider's own state decides, as JSON writes them. */
type WrittenState = Record<string, string | number | boolean | null>;

/** A discount as JSON writes it: a percentage, or an amount in minor units. `endsAt`: null if it does not end by time. */
export type StoredDiscount = {
  percent: number | null;
  amount: { amount: number; currency: string } | null;
  /** Whether it is taken from one invoice only. */
  once: boolean;
  endsAt: string | null;
};

/** One row per subscription at the provider: the newest state that an event or an answer has shown. */
export const paymentSubscriptions = pgTable(
  'payment_subscriptions',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    /** The provider's status; null while only the id is known. */
    status: text('status'),
    ended: boolean('ended').notNull().default(false),
    /** A paid tier, by the plans that were configured when the row was written. */
    tier: text('tier'),
    tierSource: text('tier_source', { enum: ['price', 'price_metadata', 'lookup_key', 'product', 'metadata'] }),
    priceId: text('price_id'),
    /** What the subscription costs per interval, in minor units; null if that is no fixed amount. */
    amount: bigint('amount', { mode: 'number' }),
    currency: text('currency'),
    interval: text('interval', { enum: ['day', 'week', 'month', 'year'] }),
    /** The number of units of the item that gives the tier. */
    quantity: bigint('quantity', { mode: 'number' }),
    /** Whether an end is scheduled, in either of the provider's two forms. */
    cancelAtPeriodEnd: boolean('cancel_at_period_end').notNull().default(false),
    currentPeriodStart: moment('current_period_start'),
    currentPeriodEnd: moment('current_period_end'),
    endsAt: moment('ends_at'),
    startedAt: moment('started_at'),
    /** Whether it is paused because its trial ended without a payment method. */
    trialEnded: boolean('trial_ended').notNull().default(false),
    /** Whether invoices are not collected for now. */
    collectionPaused: boolean('collection_paused').notNull().default(false),
    /** Within how many days its invoices are paid, which are sent; null if they are charged. */
    daysUntilDue: integer('days_until_due'),
    /** Why its invoices give no plan: a debt was written off, or the first invoice is void. Only an answer tells it. */
    invoiceTrouble: text('invoice_trouble', { enum: ['uncollectible', 'void'] }),
    /** Whether one of its payments is disputed, or a dispute was lost and no later invoice is paid. Only a sync decides it. */
    disputed: boolean('disputed').notNull().default(false),
    /** The method that is charged, such as "visa 4242". Only an answer tells it. */
    paymentMethod: text('payment_method'),
    /** What the customer has in credit, in minor units. Only an answer tells it. */
    credit: bigint('credit', { mode: 'number' }).notNull().default(0),
    /** What is taken from its invoices. Only an answer tells it. */
    discounts: jsonb('discounts').$type<StoredDiscount[]>().notNull().default([]),
    /** When a schedule changes the plan, and the tier and interval from then on (null for unknown ones). Only an answer tells it. */
    nextTierAt: moment('next_tier_at'),
    nextTier: text('next_tier'),
    nextInterval: text('next_interval', { enum: ['day', 'week', 'month', 'year'] }),
    /** When the grace of a past-due subscription began; null for every other status. */
    pastDueSince: moment('past_due_since'),
    /** The second of the provider's clock of which the row shows the state; null while no event or answer has shown one. */
    stateAt: bigint('state_at', { mode: 'number' }),
    /** The columns that the last event changed, as they were before it; null after an answer of the provider. */
    undone: jsonb('undone').$type<WrittenState>(),
    /** Raised by every event of the subscription and every write: an answer is stored if it is what it was before asking. */
    version: integer('version').notNull().default(0),
    needsSync: boolean('needs_sync').notNull().default(false),
    syncedAt: moment('synced_at'),
    /** A problem that an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider', 'other_customer', 'tax_disabled', 'not_finalised'] }),
  },
  (table) => [
    index('payment_subscriptions_organisation').on(table.organisationId, table.ended, table.startedAt),
    index('payment_subscriptions_sync').on(table.syncedAt).where(sql`${table.needsSync}`),
    index('payment_subscriptions_active').on(table.organisationId).where(sql`${table.status} = 'active'`),
    index('payment_subscriptions_problem').on(table.id).where(sql`${table.problem} is not null`),
    index('payment_subscriptions_end').on(table.endsAt).where(sql`not ${table.ended}`),
    index('payment_subscriptions_period').on(table.currentPeriodEnd).where(sql`not ${table.ended}`),
  ],
);

/** What an override adds to a plan, as JSON writes it. A limit of null is unlimited. */
export type Agreed = {
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
  /** Days of grace of a past-due subscription; null for those of the configuration. */
  graceDays: number | null;
  /** When it ends; null if it stays. */
  until: string | null;
};

/** What was agreed with an organisation beside what it buys: one override at a time. The audit log keeps earlier ones. */
export const planOverrides = pgTable('plan_overrides', {
  organisationId: uuid('organisation_id')
    .primaryKey()
    .references(() => organisations.id, { onDelete: 'cascade' }),
  /** Null if it gives no tier. */
  tier: text('tier'),
  agreed: jsonb('agreed').$type<Agreed>().notNull(),
  reason: text('reason').notNull(),
  setAt: moment('set_at').notNull(),
});

/**
 * What an organisation has. One function of billing decides it, in the transaction of whatever changes it, and every
 * reader reads it as it stands. No row means the first tier.
 */
export const organisationPlans = pgTable(
  'organisation_plans',
  {
    organisationId: uuid('organisation_id')
      .primaryKey()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    tier: text('tier').notNull(),
    source: text('source', { enum: ['subscription', 'operator', 'free'] }).notNull(),
    /** Since when the organisation has this tier from this source. */
    since: moment('since').notNull(),
    /** The subscription that decides, entitled or not, and what readers show of it; null if there is none. */
    subscriptionId: text('subscription_id'),
    status: text('status'),
    cancelAtPeriodEnd: boolean('cancel_at_period_end').notNull().default(false),
    currentPeriodStart: moment('current_period_start'),
    currentPeriodEnd: moment('current_period_end'),
    endsAt: moment('ends_at'),
    startedAt: moment('started_at'),
    /** When the plan changes by time alone, and the tier that follows then; null if it does not. */
    validUntil: moment('valid_until'),
    nextTier: text('next_tier'),
    /** What an override that stands adds to the tier; null without one. */
    agreed: jsonb('agreed').$type<Agreed>(),
  },
  (table) => [index('organisation_plans_valid_until').on(table.validUntil)],
);

/**
 * The ledger of events: what arrived and what it turned out to be. Payloads are dropped after 90 days. Without foreign
 * keys, because it also contains events of other customers and outlives the organisations.
 */
export const paymentEvents = pgTable(
  'payment_events',
  {
    id: text('id').primaryKey(),
    /** Our order of arrival, for the lists of the operator console. */
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    type: text('type').notNull(),
    /** The provider's time, in whole seconds. */
    created: bigint('created', { mode: 'number' }).notNull(),
    receivedAt: moment('received_at').notNull(),
    organisationId: uuid('organisation_id'),
    customerId: text('customer_id'),
    subscriptionId: text('subscription_id'),
    invoiceId: text('invoice_id'),
    handled: boolean('handled').notNull(),
    outcome: text('outcome').notNull(),
    /** Whether an operator should look at the event. */
    flagged: boolean('flagged').notNull().default(false),
    /** Stored as text, because jsonb refuses U+0000. Null once it was dropped. */
    payload: text('payload'),
  },
  (table) => [
    index('payment_events_organisation').on(table.organisationId, table.created),
    index('payment_events_received').on(table.receivedAt),
    // For the job that drops old payloads.
    index('payment_events_payload').on(table.receivedAt).where(sql`${table.payload} is not null`),
    // For the searches of the operator console.
    index('payment_events_id').on(table.id.op('text_pattern_ops')),
    index('payment_events_type').on(table.type.op('text_pattern_ops'), table.receivedAt),
    index('payment_events_customer').on(table.customerId).where(sql`${table.customerId} is not null`),
    index('payment_events_subscription').on(table.subscriptionId).where(sql`${table.subscriptionId} is not null`),
    index('payment_events_invoice').on(table.invoiceId).where(sql`${table.invoiceId} is not null`),
    index('payment_events_flagged').on(table.receivedAt).where(sql`${table.flagged}`),
  ],
);

/** One row per invoice with a payment problem, and per settled one while its problem may still be reported late. */
export const paymentInvoices = pgTable(
  'payment_invoices',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    subscriptionId: text('subscription_id'),
    /** The newest problem that an event has reported; null if none has. */
    problem: text('problem', { enum: ['payment_failed', 'action_required'] }),
    /** The page that pays the invoice. Whoever knows it needs no sign-in. */
    url: text('url'),
    amount: bigint('amount', { mode: 'number' }),
    currency: text('currency'),
    nextAttemptAt: moment('next_attempt_at'),
    /** The provider's second of the newest event about it. */
    notedAt: bigint('noted_at', { mode: 'number' }).notNull(),
    /** Whether it is paid, voided or written off, or a later one is paid: from then on no problem is noted. */
    settled: boolean('settled').notNull().default(false),
  },
  (table) => [
    index('payment_invoices_organisation').on(table.organisationId, table.notedAt),
    index('payment_invoices_settled').on(table.notedAt).where(sql`${table.settled}`),
  ],
);

/** What an administrator is shown of an organisation's invoices, as JSON writes it. Times in ISO 8601. */
export type ShownInvoices = {
  invoices: CustomerInvoice[];
  next: NextInvoice | null;
  method: ChargedMethod | null;
  /** The subscription's version (payment_subscriptions) when the provider was asked; null without one. */
  version: number | null;
};

/**
 * What the provider last answered about an organisation's invoices, so that a page shows it while the provider does not
 * answer. Nothing is decided by it.
 */
export const paymentShownInvoices = pgTable('payment_shown_invoices', {
  organisationId: uuid('organisation_id')
    .primaryKey()
    .references(() => organisations.id, { onDelete: 'cascade' }),
  customerId: text('customer_id').notNull(),
  shown: jsonb('shown').$type<Partial<ShownInvoices>>().notNull(),
  askedAt: moment('asked_at').notNull(),
  /** When the provider last answered all that was asked; null if it never did. */
  answeredAt: moment('answered_at'),
});

/** The disputes of payments for subscriptions, as the provider last showed them. A warning of a dispute is none. */
export const paymentDisputes = pgTable(
  'payment_disputes',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    subscriptionId: text('subscription_id').notNull(),
    /** The provider's second in which the disputed invoice was created. */
    invoicedAt: bigint('invoiced_at', { mode: 'number' }).notNull(),
    /** The provider's status. */
    status: text('status').notNull(),
    /** Whether a later invoice of the subscription is paid: then a lost dispute is over. */
    paidSince: boolean('paid_since').notNull(),
  },
  (table) => [
    index('payment_disputes_subscription').on(table.subscriptionId),
    index('payment_disputes_organisation').on(table.organisationId),
  ],
);

/**
 * Which organisation has claimed a trial: a row for itself, for each owner's address and for a company's domain, as keyed
 * hashes. Without foreign keys, because they outlive the organisation and its owners.
 */
export const trialClaims = pgTable('trial_claims', {
  hash: text('hash').primaryKey(),
  /** The hash of the organisation. */
  organisation: text('organisation').notNull(),
  claimedAt: moment('claimed_at').notNull(),
});

/** Every price that a tier has ever had: existing subscriptions keep their old price. */
export const paymentKnownPrices = pgTable('payment_known_prices', {
  priceId: text('price_id').primaryKey(),
  productId: text('product_id'),
  tier: text('tier').notNull(),
  /** What one unit costs by currency; null if a look-up has not told it. A subscription shows its price in one currency only. */
  amounts: jsonb('amounts').$type<Record<string, number>>(),
  /** For how long one payment is; null if a look-up has not told it. */
  interval: text('interval', { enum: ['day', 'week', 'month', 'year'] }),
});

/** A tier's price for one interval at the provider, as JSON writes it. */
export type LivePrice = {
  /** The interval for which the plans declare it. */
  for: string;
  /** Whether the provider sells it: the price exists and is not archived. */
  sold: boolean;
  /** The price's id; missing in what an earlier version stored, until the next look-up. */
  id?: string | null;
  /** What it costs; null if there is no fixed amount for one period. */
  shown: {
    interval: 'day' | 'week' | 'month' | 'year';
    /** The price's own currency. */
    currency: string;
    /** Minor units by currency. */
    amounts: Record<string, number>;
  } | null;
};

/** The current prices of each tier at the provider. */
export const paymentLivePrices = pgTable('payment_live_prices', {
  tier: text('tier').primaryKey(),
  prices: jsonb('prices').$type<LivePrice[]>().notNull().default([]),
  /** Null after an event has reported a change. */
  lookedUpAt: moment('looked_up_at'),
});

/**
 * By name: the provider's mode that the database belongs to, the id of the portal's configuration that
 * `operator billing-setup` created at the provider, the offer that it was last given there (as JSON), and the hash of
 * the plans and the rules by which every organisation's plan was last decided.
 */
export const paymentSettings = pgTable('payment_settings', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});
