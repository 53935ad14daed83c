import { bigint, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/**
 * Erasures that were requested and have not ended. A row holds what identifies the user, and is deleted with
 * the last step.
 */
export const erasures = pgTable('erasures', {
  id: uuid('id').primaryKey(),
  /** Null if only organisations were deleted. */
  userId: uuid('user_id'),
  /** The texts that a user may be found by: addresses and name. */
  texts: text('texts').array().notNull(),
  /** The organisations whose rows are left to be searched. The first one is next. */
  organisationIds: uuid('organisation_ids').array().notNull(),
  /** Those that were deleted: nothing personal is left of them. */
  deletedIds: uuid('deleted_ids').array().notNull(),
  /** The last event of the first organisation, or of none, that was searched; null if none was. */
  lastCreated: bigint('last_created', { mode: 'number' }),
  lastEventId: text('last_event_id'),
  requestedAt: moment('requested_at').notNull(),
});
