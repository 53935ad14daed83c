import { sql } from 'drizzle-orm';
import { boolean, check, index, pgTable, primaryKey, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

/** An SQL text: matches every address that is not plain ASCII, has an encoded domain, or ends like an IP address. */
export const unusualAddress = "'[^ -~]|[@.]xn--|[.](0x[0-9a-f]*|[0-9]+)$'";

export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    email: text('email').notNull().unique(),
    emailVerifiedAt: moment('email_verified_at'),
    name: text('name'),
    passwordHash: text('password_hash'),
    operator: boolean('operator').notNull().default(false),
    /** Whether they came by an invitation and have belonged to no organisation yet: they await approval. */
    invitedOnly: boolean('invited_only').notNull().default(false),
    /** Made by `npm start`: no service that other machines reach starts on a database with one. */
    demo: boolean('demo').notNull().default(false),
    onboardedAt: moment('onboarded_at'),
    suspendedAt: moment('suspended_at'),
    lastOrganisationId: uuid('last_organisation_id').references(() => organisations.id, { onDelete: 'set null' }),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    index('users_unverified').on(table.createdAt).where(sql`${table.emailVerifiedAt} is null`),
    // The few addresses that may not be in the normal form: db/normal-addresses.ts reads them at each start.
    index('users_unusual_address')
      .on(table.id)
      .where(sql`${table.email} ~ ${sql.raw(unusualAddress)}`),
  ],
);

/**
 * The identity provider's stable subject identifiers. A subject belongs to one user, and a
 * user has one linked subject, by constraint. An unlinked one is remembered and refused.
 */
export const identities = pgTable(
  'identities',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** In the form of canonicalIssuer. Null until the next sign-in for rows older than this column. */
    issuer: text('issuer'),
    subject: text('subject').notNull(),
    linkedAt: moment('linked_at').notNull(),
    unlinkedAt: moment('unlinked_at'),
  },
  (table) => [
    unique('identities_subject').on(table.issuer, table.subject).nullsNotDistinct(),
    uniqueIndex('identities_linked').on(table.userId).where(sql`${table.unlinkedAt} is null`),
    index('identities_user').on(table.userId),
  ],
);

/**
 * What was typed at sign-up. It becomes valid only in the browser where it was typed, once
 * that browser presents the link which belongs to the sign-up, or the token of its page.
 */
export const signUps = pgTable(
  'sign_ups',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    passwordHash: text('password_hash').notNull(),
    organisationName: text('organisation_name'),
    /** Whether it was to join an organisation by an invitation, and so to have none of one's own. */
    invited: boolean('invited').notNull().default(false),
    /** Hash of the cookie that the sign-up left, which tells whether the same browser opens the link. */
    browserHash: text('browser_hash').notNull(),
    createdAt: moment('created_at').notNull(),
    usedAt: moment('used_at'),
  },
  (table) => [index('sign_ups_user').on(table.userId, table.createdAt)],
);

export const verificationLinks = pgTable(
  'verification_links',
  {
    tokenHash: text('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The sign-up that the link belongs to; null where it belongs to none. */
    signUpId: uuid('sign_up_id').references(() => signUps.id, { onDelete: 'set null' }),
    purpose: text('purpose', { enum: ['sign-up', 'change-address', 'lost-password'] }).notNull(),
    email: text('email').notNull(),
    /** For a change of address: the session that asked for it, which stays when the others end. */
    keptSessionId: uuid('kept_session_id'),
    /** The job that mails it, which knows its own row again when it is begun anew. */
    jobId: uuid('job_id'),
    /** Which of the two pairs of mail limits it counts in: whether a browser known to the account asked for it. */
    fromKnownBrowser: boolean('from_known_browser').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    /** When its mail was sent; null until the mail server has it, and where nobody lived to note that. */
    sentAt: moment('sent_at'),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (table) => [
    index('verification_links_user').on(table.userId, table.createdAt),
    index('verification_links_email').on(table.email, table.createdAt),
    check('verification_links_purpose', sql`${table.purpose} in ('sign-up', 'change-address', 'lost-password')`),
  ],
);

/** Links and form tokens that somebody is handed, not mailed: each opens one thing, once. */
export const oneTimeTokens = pgTable(
  'one_time_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    purpose: text('purpose', {
      enum: ['password-link', 'new-password', 'keep-password', 'change-address', 'approval'],
    }).notNull(),
    /** The verification link whose page carries the token; the token ends with it. Null for password links. */
    linkHash: text('link_hash').references(() => verificationLinks.tokenHash, { onDelete: 'cascade' }),
    createdBy: uuid('created_by'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    index('one_time_tokens_user').on(table.userId),
    index('one_time_tokens_link').on(table.linkHash),
    check(
      'one_time_tokens_purpose',
      sql`${table.purpose} in ('password-link', 'new-password', 'keep-password', 'change-address', 'approval')`,
    ),
  ],
);

/**
 * Browsers that signed in to an account before, several users to one browser. The token opens
 * nothing: a row only changes which limits a request counts in.
 */
export const knownBrowsers = pgTable(
  'known_browsers',
  {
    tokenHash: text('token_hash').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** When this user last signed in from this browser. */
    signedInAt: moment('signed_in_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenHash, table.userId] }),
    index('known_browsers_user').on(table.userId, table.signedInAt),
    index('known_browsers_signed_in').on(table.signedInAt),
  ],
);
