import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

export const sessions = pgTable(
  'sessions',
  {
    idHash: text('id_hash').primaryKey(),
    /** Names the session on /account; opens nothing. */
    id: uuid('id').notNull().unique(),
    /** Of the second token, which COOKIE_DOMAIN lets products on sibling hosts have: it may ask and nothing else. */
    sharedHash: text('shared_hash').unique(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organisationId: uuid('organisation_id').references(() => organisations.id, { onDelete: 'set null' }),
    /** The subject that the identity provider vouched for as it began; null for any other way in. */
    idpSubject: text('idp_subject'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    userAgent: text('user_agent'),
    client: text('client'),
  },
  (table) => [index('sessions_user').on(table.userId), index('sessions_expiry').on(table.expiresAt)],
);
