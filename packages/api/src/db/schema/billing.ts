import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

/** Who an organisation is at the payment provider. Earlier generations stay, because late events still name them. */
export const paymentCustomers = pgTable(
  'payment_customers',
  {
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    generation: integer('generation').notNull(),
    /** Null while the provider is being asked for it. */
    customerId: text('customer_id').unique(),
    /** The provider's mode that it lives in; null where it was stored before modes were, until the provider tells. */
    livemode: boolean('livemode'),
    createdAt: moment('created_at').notNull(),
    goneAt: moment('gone_at'),
    /** What an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider'] }),
  },
  (table) => [
    primaryKey({ columns: [table.organisationId, table.generation] }),
    uniqueIndex('payment_customers_current')
      .on(table.organisationId, table.livemode)
      .where(sql`${table.goneAt} is null`),
  ],
);

/** Who talks with the provider about something just now, and until when at most. */
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
  (table) => [index('payment_checkouts_organisation').on(table.organisationId)],
);

/**
 * One row per subscription of the provider, computed from the newest snapshot and the
 * stored events, never from what it held before.
 */
export const paymentSubscriptions = pgTable(
  'payment_subscriptions',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    /** As that of its customer. */
    livemode: boolean('livemode'),
    /** The provider's word; null while nothing but the name is known. */
    status: text('status'),
    ended: boolean('ended').notNull().default(false),
    /** A paid tier of the plans at that time. */
    tier: text('tier'),
    tierSource: text('tier_source', { enum: ['price', 'lookup_key', 'product', 'metadata'] }),
    priceId: text('price_id'),
    /** Whether an end is scheduled, in either of the provider's two forms. */
    cancelAtPeriodEnd: boolean('cancel_at_period_end').notNull().default(false),
    currentPeriodEnd: moment('current_period_end'),
    endsAt: moment('ends_at'),
    startedAt: moment('started_at'),
    pastDueSince: moment('past_due_since'),
    /** What the provider last answered, and the number of the last event stored before it was asked. */
    snapshot: text('snapshot'),
    snapshotNumber: bigint('snapshot_number', { mode: 'number' }),
    snapshotPastDueSince: moment('snapshot_past_due_since'),
    /** The same number of the last answer that was not past due: no run of failed payments reaches behind it. */
    settledNumber: bigint('settled_number', { mode: 'number' }).notNull().default(0),
    lastEventNumber: bigint('last_event_number', { mode: 'number' }).notNull().default(0),
    needsSync: boolean('needs_sync').notNull().default(false),
    syncedAt: moment('synced_at'),
    /** What an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider', 'other_customer'] }),
  },
  (table) => [
    index('payment_subscriptions_organisation').on(table.organisationId, table.ended, table.startedAt),
    index('payment_subscriptions_sync').on(table.syncedAt).where(sql`${table.needsSync}`),
    index('payment_subscriptions_end').on(table.endsAt).where(sql`not ${table.ended}`),
    index('payment_subscriptions_period').on(table.currentPeriodEnd).where(sql`not ${table.ended}`),
  ],
);

/**
 * The ledger: every event that was received, as it came. Without foreign keys, because
 * it also holds what is not ours and outlives whom it is about.
 */
export const paymentEvents = pgTable(
  'payment_events',
  {
    id: text('id').primaryKey(),
    /** Our own order of arrival, given while the organisation's row is locked. */
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    type: text('type').notNull(),
    /** The provider's clock, in whole seconds. */
    created: bigint('created', { mode: 'number' }).notNull(),
    receivedAt: moment('received_at').notNull(),
    organisationId: uuid('organisation_id'),
    customerId: text('customer_id'),
    subscriptionId: text('subscription_id'),
    invoiceId: text('invoice_id'),
    /** What the event tells of its subscription's status; null where it tells none. */
    statusClass: text('status_class', { enum: ['ended', 'past_due', 'other'] }),
    handled: boolean('handled').notNull(),
    outcome: text('outcome').notNull(),
    /** Whether an operator should look at it. */
    flagged: boolean('flagged').notNull().default(false),
    /** As text, because jsonb refuses U+0000. */
    payload: text('payload').notNull(),
  },
  (table) => [
    index('payment_events_newest').on(table.subscriptionId, table.created).where(sql`${table.statusClass} is not null`),
    index('payment_events_status_class')
      .on(table.subscriptionId, table.statusClass, table.created, table.id)
      .where(sql`${table.statusClass} is not null`),
    index('payment_events_invoice').on(table.invoiceId).where(sql`${table.invoiceId} is not null`),
    index('payment_events_organisation').on(table.organisationId, table.created),
    index('payment_events_received').on(table.receivedAt),
  ],
);

/** Every price that was ever seen for a tier: old subscribers stay on theirs. */
export const paymentKnownPrices = pgTable('payment_known_prices', {
  priceId: text('price_id').primaryKey(),
  productId: text('product_id'),
  tier: text('tier').notNull(),
});

/** What a tier costs at the provider now; an empty price where it has none that can be shown. */
export const paymentLivePrices = pgTable('payment_live_prices', {
  tier: text('tier').primaryKey(),
  amount: bigint('amount', { mode: 'number' }),
  currency: text('currency'),
  interval: text('interval'),
  /** Null once the provider has told of a change. */
  lookedUpAt: moment('looked_up_at'),
});

/** What `operator billing-setup` made at the provider. */
export const paymentSettings = pgTable('payment_settings', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});
