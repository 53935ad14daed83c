import { index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/**
 * The audit log, without foreign keys, so that entries outlive the users and organisations that they
 * name. A trigger permits an update only to remove a client, a user agent or
 * details, and a deletion by age.
 */
export const auditEvents = pgTable(
  'audit_events',
  {
    id: uuid('id').primaryKey(),
    at: moment('at').notNull(),
    action: text('action').notNull(),
    /** The user who acted, or who made the API key that did; null for an admin command and a rule. */
    actorId: uuid('actor_id'),
    /** The API key that acted; null if none did. */
    keyId: uuid('key_id'),
    userId: uuid('user_id'),
    organisationId: uuid('organisation_id'),
    client: text('client'),
    userAgent: text('user_agent'),
    details: jsonb('details').$type<Record<string, string>>().notNull().default({}),
  },
  (table) => [
    index('audit_events_actor').on(table.actorId, table.at),
    index('audit_events_user').on(table.userId, table.at),
    index('audit_events_organisation').on(table.organisationId, table.at),
    index('audit_events_at').on(table.at),
  ],
);
