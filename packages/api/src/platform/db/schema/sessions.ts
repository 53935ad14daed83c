import { sql } from 'drizzle-orm';
import { boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { moment } from './columns.ts';
import { stepAttempts } from './factors.ts';
import { organisations } from './organisations.ts';

export const sessions = pgTable(
  'sessions',
  {
    idHash: text('id_hash').primaryKey(),
    /** Identifies the session on /account. It does not authenticate. */
    id: uuid('id').notNull().unique(),
    /**
     * The hash of the second token, which COOKIE_DOMAIN shares with products on sibling hosts. It
     * can only be used to ask about the session.
     */
    sharedHash: text('shared_hash').unique(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organisationId: uuid('organisation_id').references(() => organisations.id, { onDelete: 'set null' }),
    /** The identity provider's subject that the sign-in named; null if the sign-in was by another method. */
    idpSubject: text('idp_subject'),
    /** Whether the sign-in was by a passkey alone. */
    byPasskey: boolean('by_passkey').notNull().default(false),
    /** Whether an identity of the provider was the second factor of the sign-in, and the account's own was not given since. */
    identityFactor: boolean('identity_factor').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    /** Written at most every ten minutes. */
    lastUsedAt: moment('last_used_at').notNull(),
    /** Until when the session is fresh: its user signed in, or did so again, in the 15 minutes before. */
    freshUntil: moment('fresh_until'),
    /** Whether that sign-in was with a factor of the account's own. */
    freshByFactor: boolean('fresh_by_factor').notNull().default(false),
    /** Until when a code or passkey makes the session fresh without a password: its user has come back from the provider. */
    providerConfirmedUntil: moment('provider_confirmed_until'),
    /** The second step that the session waits for: until it is done, the session opens nothing. Null for all others. */
    stepHash: text('step_hash').references(() => stepAttempts.idHash, { onDelete: 'cascade' }),
    userAgent: text('user_agent'),
    client: text('client'),
    /** The origins of return URLs to which / redirected this session without a pause, and when it last did: to notice a loop. */
    returnedTo: text('returned_to'),
    returnedAt: moment('returned_at'),
  },
  (table) => [
    index('sessions_user').on(table.userId),
    index('sessions_organisation').on(table.organisationId),
    index('sessions_step').on(table.stepHash).where(sql`${table.stepHash} is not null`),
    index('sessions_expiry').on(table.expiresAt),
  ],
);
