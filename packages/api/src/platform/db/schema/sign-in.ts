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
    /** The user who asked to connect an identity; null for a sign-in. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('sign_in_attempts_expiry').on(table.expiresAt)],
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
