import { sql } from 'drizzle-orm';
import { boolean, check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

/** The API keys of the company's own services. The key itself is stored nowhere. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    /** Null for a key of the deployment. */
    organisationId: uuid('organisation_id').references(() => organisations.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    hash: text('hash').notNull().unique(),
    /** The start and the end of the key, by which people recognise it. */
    hint: text('hint').notNull(),
    /** WRITE includes READ, MANAGE includes both. Only a key of the deployment manages. */
    scope: text('scope', { enum: ['READ', 'WRITE', 'MANAGE'] }).notNull(),
    /** Whether a key that manages may make password links. Only the command line says so. */
    passwordLinks: boolean('password_links').notNull().default(false),
    /**
     * Whether an operator made the key, in the console or by an admin command. Only such a key reports usage and states
     * gauges: by the numbers of its own services an organisation would judge itself.
     */
    byOperator: boolean('by_operator').notNull().default(false),
    /** Null for an admin command, and after the account was deleted. */
    createdBy: uuid('created_by').references(() => users.id, { onDelete: 'set null' }),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at'),
    /** Written at most once a minute. */
    lastUsedAt: moment('last_used_at'),
    revokedAt: moment('revoked_at'),
  },
  (table) => [
    check('api_keys_scope', sql`${table.scope} in ('READ', 'WRITE', 'MANAGE')`),
    check('api_keys_manage', sql`${table.scope} <> 'MANAGE' or ${table.organisationId} is null`),
    check('api_keys_password_links', sql`${table.scope} = 'MANAGE' or not ${table.passwordLinks}`),
    index('api_keys_organisation').on(table.organisationId),
    index('api_keys_creator').on(table.createdBy),
  ],
);
