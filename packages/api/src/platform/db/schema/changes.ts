import { sql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/**
 * The changes that other services read, written by `recordChange` in the transaction of the change. Without foreign
 * keys: a change outlives the organisation and user it is about.
 */
export const changes = pgTable(
  'changes',
  {
    /** The order of insertion, which a transaction may commit late. */
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** The position in the feed, assigned once the change is committed; null until then. */
    position: bigint('position', { mode: 'number' }),
    at: moment('at').notNull(),
    type: text('type').notNull(),
    organisationId: uuid('organisation_id'),
    userId: uuid('user_id'),
    data: jsonb('data').$type<Record<string, unknown>>().notNull().default({}),
  },
  (table) => [
    uniqueIndex('changes_position').on(table.position),
    // What the erasure of a user looks for.
    index('changes_user').on(table.userId).where(sql`${table.userId} is not null`),
    index('changes_organisation').on(table.organisationId, table.position),
    index('changes_unplaced').on(table.id).where(sql`${table.position} is null`),
    index('changes_at').on(table.at),
  ],
);

/** The one row of the feed. A transaction that assigns positions locks it. */
export const changeFeed = pgTable('change_feed', {
  one: boolean('one').primaryKey().default(true),
  /** Part of each cursor, so that one of another deployment is recognised. */
  deployment: uuid('deployment').notNull().defaultRandom(),
  lastPosition: bigint('last_position', { mode: 'number' }).notNull().default(0),
  /** The position of the newest change that was deleted. */
  deletedTo: bigint('deleted_to', { mode: 'number' }).notNull().default(0),
});
