import { sql } from 'drizzle-orm';
import { check, foreignKey, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { moment } from './columns.ts';
import { apiKeys } from './keys.ts';
import { organisations } from './organisations.ts';

export const memberships = pgTable(
  'memberships',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
    createdAt: moment('created_at').notNull(),
    /** The administrator whose invitation the user joined by; null for owners who signed up, and for a deleted account. */
    invitedBy: uuid('invited_by').references(() => users.id, { onDelete: 'set null' }),
    /** When a session of the user last acted for the organisation, to the hour. */
    lastSeenAt: moment('last_seen_at'),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.organisationId] }),
    // The order of the members page, which reads it page by page.
    index('memberships_organisation').on(table.organisationId, table.createdAt, table.userId),
    index('memberships_invited_by').on(table.invitedBy),
    check('memberships_role', sql`${table.role} in ('owner', 'admin', 'member', 'viewer')`),
  ],
);

/**
 * Links by which a user joins an organisation, once: joining deletes the row. The foreign key
 * deletes an invitation together with the membership of the user who created it.
 */
export const invitations = pgTable(
  'invitations',
  {
    id: uuid('id').primaryKey(),
    tokenHash: text('token_hash').notNull().unique(),
    organisationId: uuid('organisation_id').notNull(),
    /** Null where an API key made it. */
    createdBy: uuid('made_by'),
    /** The key that made it. The invitation ends when the key is revoked. */
    keyId: uuid('key_id').references(() => apiKeys.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['admin', 'member', 'viewer'] }).notNull(),
    /** A note about the person whom the link is for, by its creator. Only administrators read it. */
    note: text('note'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    foreignKey({
      name: 'invitations_maker',
      columns: [table.createdBy, table.organisationId],
      foreignColumns: [memberships.userId, memberships.organisationId],
    }).onDelete('cascade'),
    index('invitations_organisation').on(table.organisationId, table.createdBy),
    index('invitations_creator').on(table.createdBy),
    index('invitations_key').on(table.keyId).where(sql`${table.keyId} is not null`),
    index('invitations_expiry').on(table.expiresAt),
    check('invitations_one_maker', sql`num_nonnulls(${table.createdBy}, ${table.keyId}) = 1`),
    check('invitations_role', sql`${table.role} in ('admin', 'member', 'viewer')`),
  ],
);
