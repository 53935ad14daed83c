import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

/** The customer of each organisation at the payment provider: one at a time. */
export const paymentCustomers = pgTable('payment_customers', {
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
  /** The e-mail address that the provider was last given; differs from the organisation's while a push is due. */
  contactEmail: text('contact_email'),
  /** A problem that an operator should look at. */
  problem: text('problem', { enum: ['unknown_to_provider'] }),
});

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

/**
 * One row per subscription at the provider. It is computed from the newest snapshot and the stored
 * events, never from its previous value.
 */
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
    /** A paid tier, by the plans that were configured when the row was computed. */
    tier: text('tier'),
    tierSource: text('tier_source', { enum: ['price', 'lookup_key', 'product', 'metadata'] }),
    priceId: text('price_id'),
    /** Whether an end is scheduled, in either of the provider's two forms. */
    cancelAtPeriodEnd: boolean('cancel_at_period_end').notNull().default(false),
    /** Null for rows that were last written before this column was added. */
    currentPeriodStart: moment('current_period_start'),
    currentPeriodEnd: moment('current_period_end'),
    endsAt: moment('ends_at'),
    startedAt: moment('started_at'),
    pastDueSince: moment('past_due_since'),
    /** The provider's last answer, and the number of the last event stored before the request. */
    snapshot: text('snapshot'),
    snapshotNumber: bigint('snapshot_number', { mode: 'number' }),
    snapshotPastDueSince: moment('snapshot_past_due_since'),
    /**
     * The number of the last event stored before the provider first answered past due, or before a later answer that
     * was found to be about the same run. Null for other answers and for rows whose first such answer is older than
     * this column.
     */
    snapshotPastDueNumber: bigint('snapshot_past_due_number', { mode: 'number' }),
    /** The newest invoice in that first answer; null where it was not stored. */
    snapshotPastDueInvoice: text('snapshot_past_due_invoice'),
    /**
     * That number for the last answer whose status was not past_due, or that showed late events to be of an earlier
     * failure: a run of failed payments cannot have begun before it.
     */
    settledNumber: bigint('settled_number', { mode: 'number' }).notNull().default(0),
    lastEventNumber: bigint('last_event_number', { mode: 'number' }).notNull().default(0),
    needsSync: boolean('needs_sync').notNull().default(false),
    syncedAt: moment('synced_at'),
    /** A problem that an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider', 'other_customer'] }),
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

/**
 * The event store. Old payloads are stripped of personal data, and old events that no longer decide anything are
 * deleted. Without foreign keys, because it also contains events of other customers and outlives the organisations.
 */
export const paymentEvents = pgTable(
  'payment_events',
  {
    id: text('id').primaryKey(),
    /** Our order of arrival, assigned while the organisation's row is locked. */
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    type: text('type').notNull(),
    /** The provider's time, in whole seconds. */
    created: bigint('created', { mode: 'number' }).notNull(),
    receivedAt: moment('received_at').notNull(),
    organisationId: uuid('organisation_id'),
    customerId: text('customer_id'),
    subscriptionId: text('subscription_id'),
    invoiceId: text('invoice_id'),
    /**
     * The class of the subscription's status in the event; null if the event shows no status. `past_due_begins` shows
     * the change from another status to past due: an earlier release stored `past_due`, and ignores `past_due_begins`.
     */
    statusClass: text('status_class', { enum: ['ended', 'past_due', 'past_due_begins', 'other'] }),
    handled: boolean('handled').notNull(),
    outcome: text('outcome').notNull(),
    /** Whether an operator should look at the event. */
    flagged: boolean('flagged').notNull().default(false),
    /** Stored as text, because jsonb refuses U+0000. */
    payload: text('payload').notNull(),
    /** When everything personal was removed from the payload; null while it is as received. */
    strippedAt: moment('stripped_at'),
  },
  (table) => [
    index('payment_events_newest').on(table.subscriptionId, table.created).where(sql`${table.statusClass} is not null`),
    index('payment_events_status_class')
      .on(table.subscriptionId, table.statusClass, table.created, table.id)
      .where(sql`${table.statusClass} is not null`),
    index('payment_events_invoice').on(table.invoiceId).where(sql`${table.invoiceId} is not null`),
    index('payment_events_organisation').on(table.organisationId, table.created),
    index('payment_events_received').on(table.receivedAt),
    // For the nightly job that strips payloads.
    index('payment_events_unstripped').on(table.receivedAt).where(sql`${table.strippedAt} is null`),
    // For the searches of the operator console.
    index('payment_events_id').on(table.id.op('text_pattern_ops')),
    index('payment_events_type').on(table.type.op('text_pattern_ops'), table.receivedAt),
    index('payment_events_customer').on(table.customerId).where(sql`${table.customerId} is not null`),
    index('payment_events_subscription').on(table.subscriptionId).where(sql`${table.subscriptionId} is not null`),
    index('payment_events_flagged').on(table.receivedAt).where(sql`${table.flagged}`),
  ],
);

/** Every price that a tier has ever had: existing subscriptions keep their old price. */
export const paymentKnownPrices = pgTable('payment_known_prices', {
  priceId: text('price_id').primaryKey(),
  productId: text('product_id'),
  tier: text('tier').notNull(),
});

/** The current price of each tier at the provider; an empty price if there is none that can be shown. */
export const paymentLivePrices = pgTable('payment_live_prices', {
  tier: text('tier').primaryKey(),
  amount: bigint('amount', { mode: 'number' }),
  currency: text('currency'),
  interval: text('interval'),
  /** Null after an event has reported a change. */
  lookedUpAt: moment('looked_up_at'),
});

/**
 * By name: the provider's mode that the database belongs to, the id of the portal's configuration that
 * `operator billing-setup` created at the provider, and the offer that it was last given there (as JSON).
 */
export const paymentSettings = pgTable('payment_settings', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});
