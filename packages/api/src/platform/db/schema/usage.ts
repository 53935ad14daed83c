import { sql } from 'drizzle-orm';
import { bigint, boolean, date, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

/**
 * How much of a meter an organisation used since the start of a period; of a gauge, since the
 * epoch. A trigger (migration usage) moves the value of an ended day to usage_days.
 */
export const usage = pgTable(
  'usage',
  {
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    meter: text('meter').notNull(),
    since: moment('since').notNull(),
    /** What is final. */
    used: bigint('used', { mode: 'number' }).notNull(),
    /** The amounts of its holds that nobody ended, also of those that expired and were not noticed yet. */
    onHold: bigint('on_hold', { mode: 'number' }).notNull().default(0),
    /** The day in UTC of the last change. */
    day: date('day').notNull().default('1970-01-01'),
    /** The amount that a counter counted on that day. */
    dayUsed: bigint('day_used', { mode: 'number' }).notNull().default(0),
    /** Whether the last reservation was within the limit, so that RETURNING can report it. */
    granted: boolean('granted').notNull().default(true),
    /** How much of a gauge the keys of the organisation reserved and did not release. Its administrators' keys release no more. */
    ownReserved: bigint('own_reserved', { mode: 'number' }).notNull().default(0),
    /** The time of the last change of a gauge: of a value that was set, a granted reservation or a release. */
    setAt: moment('set_at'),
  },
  (table) => [primaryKey({ columns: [table.organisationId, table.meter, table.since] })],
);

/** Days that have ended: the amount that a counter counted, or the value of a gauge at the day's end. */
export const usageDays = pgTable(
  'usage_days',
  {
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    meter: text('meter').notNull(),
    day: date('day').notNull(),
    used: bigint('used', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organisationId, table.meter, table.day] }),
    index('usage_days_day').on(table.day),
  ],
);

/**
 * The idempotency keys of 48 hours with their answers. Without a foreign key, whose check would
 * lock the organisation's row in each reservation.
 */
export const usageRequests = pgTable(
  'usage_requests',
  {
    organisationId: uuid('organisation_id').notNull(),
    meter: text('meter').notNull(),
    key: text('key').notNull(),
    /** Operation, amount and time, as asked. */
    content: text('content').notNull(),
    at: moment('at').notNull(),
    granted: boolean('granted').notNull(),
    used: bigint('used', { mode: 'number' }).notNull(),
    /** The tier, limit and reset of the first answer. Null for a report, whose answer holds none. */
    tier: text('tier'),
    planLimit: bigint('plan_limit', { mode: 'number' }),
    resetsAt: moment('resets_at'),
    hold: uuid('hold'),
  },
  (table) => [
    primaryKey({ columns: [table.organisationId, table.meter, table.key] }),
    index('usage_requests_at').on(table.at),
  ],
);

/**
 * Amounts that are reserved until they are committed or released, or until their end has passed. Kept for 48 hours after
 * that end, so that the same answer can be given again. Without a foreign key, as usage_requests.
 */
export const usageHolds = pgTable(
  'usage_holds',
  {
    id: uuid('id').primaryKey(),
    organisationId: uuid('organisation_id').notNull(),
    meter: text('meter').notNull(),
    /** The period and the day in UTC in which it was made: those of the row in usage. */
    since: moment('since').notNull(),
    day: date('day').notNull(),
    amount: bigint('amount', { mode: 'number' }).notNull(),
    /** Whether a key of the organisation made it. */
    isOwn: boolean('is_own').notNull(),
    endsAt: moment('ends_at').notNull(),
    /** Null while its amount is in usage.on_hold. */
    outcome: text('outcome', { enum: ['committed', 'released', 'expired'] }),
  },
  (table) => [
    index('usage_holds_open').on(table.organisationId, table.meter, table.endsAt).where(sql`${table.outcome} is null`),
    index('usage_holds_ends').on(table.endsAt),
  ],
);

/** How many new idempotency keys an organisation has used in the clock hour that `hour` begins. */
export const usageKeyCounts = pgTable('usage_key_counts', {
  organisationId: uuid('organisation_id')
    .primaryKey()
    .references(() => organisations.id, { onDelete: 'cascade' }),
  hour: moment('hour').notNull(),
  keys: integer('keys').notNull(),
});
