import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

function moment(name: string) {
  return timestamp(name, { withTimezone: true });
}

// --- organisations and people ---------------------------------------------

export const organisations = pgTable(
  'organisations',
  {
    id: uuid('id').primaryKey(),
    slug: text('slug').notNull().unique(),
    name: text('name'),
    approval: text('approval', { enum: ['pending', 'approved', 'declined'] })
      .notNull()
      .default('pending'),
    createdAt: moment('created_at').notNull(),
    approvedAt: moment('approved_at'),
    declinedAt: moment('declined_at'),
    declineReason: text('decline_reason'),
    /** Beside the approval, so that restoring brings back whatever held before. */
    suspendedAt: moment('suspended_at'),
  },
  (table) => [
    check('organisations_approval', sql`${table.approval} in ('pending', 'approved', 'declined')`),
    index('organisations_pending').on(table.createdAt).where(sql`${table.approval} = 'pending'`),
  ],
);

export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    email: text('email').notNull().unique(),
    emailVerifiedAt: moment('email_verified_at'),
    name: text('name'),
    passwordHash: text('password_hash'),
    /** The identity provider's stable subject identifier: one user each, by constraint. */
    idpSubject: text('idp_subject').unique(),
    operator: boolean('operator').notNull().default(false),
    onboardedAt: moment('onboarded_at'),
    suspendedAt: moment('suspended_at'),
    lastOrganisationId: uuid('last_organisation_id').references(() => organisations.id, { onDelete: 'set null' }),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [index('users_unverified').on(table.createdAt).where(sql`${table.emailVerifiedAt} is null`)],
);

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
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.organisationId] }),
    index('memberships_organisation').on(table.organisationId),
    check('memberships_role', sql`${table.role} in ('owner', 'admin', 'member', 'viewer')`),
  ],
);

// --- sign-up and links ------------------------------------------------------

/** What somebody typed at sign-up. It becomes valid when the link that was mailed for it is opened. */
export const signUps = pgTable(
  'sign_ups',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    passwordHash: text('password_hash').notNull(),
    organisationName: text('organisation_name'),
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
    /** The sign-up whose password the link makes valid; null where it carries none. */
    signUpId: uuid('sign_up_id').references(() => signUps.id, { onDelete: 'set null' }),
    purpose: text('purpose', { enum: ['sign-up', 'change-address'] }).notNull(),
    email: text('email').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (table) => [
    index('verification_links_user').on(table.userId, table.createdAt),
    check('verification_links_purpose', sql`${table.purpose} in ('sign-up', 'change-address')`),
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
    purpose: text('purpose', { enum: ['password-link', 'first-password', 'approval'] }).notNull(),
    createdBy: uuid('created_by'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    index('one_time_tokens_user').on(table.userId),
    check('one_time_tokens_purpose', sql`${table.purpose} in ('password-link', 'first-password', 'approval')`),
  ],
);

// --- sessions ---------------------------------------------------------------

export const sessions = pgTable(
  'sessions',
  {
    idHash: text('id_hash').primaryKey(),
    /** Names the session on /account; opens nothing. */
    id: uuid('id').notNull().unique(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organisationId: uuid('organisation_id').references(() => organisations.id, { onDelete: 'set null' }),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    userAgent: text('user_agent'),
    client: text('client'),
  },
  (table) => [index('sessions_user').on(table.userId), index('sessions_expiry').on(table.expiresAt)],
);

export const signInAttempts = pgTable(
  'sign_in_attempts',
  {
    idHash: text('id_hash').primaryKey(),
    state: text('state').notNull(),
    nonce: text('nonce').notNull(),
    codeVerifier: text('code_verifier'),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('sign_in_attempts_expiry').on(table.expiresAt)],
);

// --- audit ------------------------------------------------------------------

/** Append-only, and without foreign keys: what happened stays true after those whom it happened to are gone. */
export const auditEvents = pgTable(
  'audit_events',
  {
    id: uuid('id').primaryKey(),
    at: moment('at').notNull(),
    action: text('action').notNull(),
    actorId: uuid('actor_id'),
    userId: uuid('user_id'),
    organisationId: uuid('organisation_id'),
    client: text('client'),
    userAgent: text('user_agent'),
    details: jsonb('details').$type<Record<string, string>>().notNull().default({}),
  },
  (table) => [
    index('audit_events_user').on(table.userId, table.at),
    index('audit_events_organisation').on(table.organisationId, table.at),
    index('audit_events_at').on(table.at),
  ],
);

// --- usage ------------------------------------------------------------------

/** How much of a meter was used since a moment; for meters that never reset, since the epoch. */
export const usage = pgTable(
  'usage',
  {
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    meter: text('meter').notNull(),
    since: moment('since').notNull(),
    used: bigint('used', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.organisationId, table.meter, table.since] })],
);

// --- rate limits (the table that rate-limiter-flexible's Postgres store expects) --

export const rateLimits = pgTable('rate_limits', {
  key: text('key').primaryKey(),
  points: integer('points').notNull().default(0),
  expire: bigint('expire', { mode: 'number' }),
});
