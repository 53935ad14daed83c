import { sql } from 'drizzle-orm';
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { moment } from './columns.ts';

export const signInAttempts = pgTable(
  'sign_in_attempts',
  {
    idHash: text('id_hash').primaryKey(),
    state: text('state').notNull(),
    nonce: text('nonce').notNull(),
    codeVerifier: text('code_verifier'),
    /** The user who asked, signed in, to connect an identity or to confirm who they are; null for a sign-in. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** The session that becomes fresh by the attempt; null for a sign-in and for connecting. */
    freshSessionId: uuid('fresh_session_id'),
    /** The path to which / leads then. */
    returnTo: text('return_to'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    index('sign_in_attempts_user').on(table.userId).where(sql`${table.userId} is not null`),
    index('sign_in_attempts_expiry').on(table.expiresAt),
  ],
);

/** Return URLs: the page that a browser goes back to after sign-in, once. */
export const returnUrls = pgTable(
  'return_urls',
  {
    idHash: text('id_hash').primaryKey(),
    url: text('url').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('return_urls_expiry').on(table.expiresAt)],
);
