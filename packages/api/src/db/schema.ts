import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

function moment(name: string) {
  return timestamp(name, { withTimezone: true });
}

/** An SQL text: matches every address that is not plain ASCII, has an encoded domain, or ends like an IP address. */
export const unusualAddress = "'[^ -~]|[@.]xn--|[.](0x[0-9a-f]*|[0-9]+)$'";

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

/**
 * Links by which somebody joins an organisation, each once: the row goes as it is taken.
 * Those of somebody who does not belong to the organisation any more go with the membership.
 */
export const invitations = pgTable(
  'invitations',
  {
    id: uuid('id').primaryKey(),
    tokenHash: text('token_hash').notNull().unique(),
    organisationId: uuid('organisation_id').notNull(),
    madeBy: uuid('made_by').notNull(),
    role: text('role', { enum: ['admin', 'member', 'viewer'] }).notNull(),
    /** The name of the session that made it: a password change that ends the session ends it too. */
    sessionId: uuid('session_id'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    foreignKey({
      name: 'invitations_maker',
      columns: [table.madeBy, table.organisationId],
      foreignColumns: [memberships.userId, memberships.organisationId],
    }).onDelete('cascade'),
    index('invitations_organisation').on(table.organisationId, table.madeBy),
    index('invitations_expiry').on(table.expiresAt),
    check('invitations_role', sql`${table.role} in ('admin', 'member', 'viewer')`),
  ],
);

// --- sign-up and links ------------------------------------------------------

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

// --- sessions ---------------------------------------------------------------

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

/** Where a browser came from to sign in, and goes back to once. */
export const waysBack = pgTable(
  'ways_back',
  {
    idHash: text('id_hash').primaryKey(),
    url: text('url').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('ways_back_expiry').on(table.expiresAt)],
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

// --- billing ----------------------------------------------------------------

/** Who an organisation is at the payment provider. Earlier generations stay, because late events still name them. */
export const paymentCustomers = pgTable(
  'payment_customers',
  {
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    generation: integer('generation').notNull(),
    /** Null while the provider is being asked for it. */
    customerId: text('customer_id').unique(),
    /** The provider's mode that it lives in; null where it was stored before modes were, until the provider tells. */
    livemode: boolean('livemode'),
    createdAt: moment('created_at').notNull(),
    goneAt: moment('gone_at'),
    /** What an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider'] }),
  },
  (table) => [
    primaryKey({ columns: [table.organisationId, table.generation] }),
    uniqueIndex('payment_customers_current')
      .on(table.organisationId, table.livemode)
      .where(sql`${table.goneAt} is null`),
  ],
);

/** Who talks with the provider about something just now, and until when at most. */
export const paymentLeases = pgTable('payment_leases', {
  name: text('name').primaryKey(),
  holder: uuid('holder').notNull(),
  endsAt: moment('ends_at').notNull(),
});

export const paymentCheckouts = pgTable(
  'payment_checkouts',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    priceId: text('price_id').notNull(),
    openedAt: moment('opened_at').notNull(),
    closedAt: moment('closed_at'),
  },
  (table) => [index('payment_checkouts_organisation').on(table.organisationId)],
);

/**
 * One row per subscription of the provider, computed from the newest snapshot and the
 * stored events, never from what it held before.
 */
export const paymentSubscriptions = pgTable(
  'payment_subscriptions',
  {
    id: text('id').primaryKey(),
    organisationId: uuid('organisation_id')
      .notNull()
      .references(() => organisations.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    /** As that of its customer. */
    livemode: boolean('livemode'),
    /** The provider's word; null while nothing but the name is known. */
    status: text('status'),
    ended: boolean('ended').notNull().default(false),
    tier: text('tier', { enum: ['silver', 'gold'] }),
    tierSource: text('tier_source', { enum: ['price', 'lookup_key', 'product', 'metadata'] }),
    priceId: text('price_id'),
    /** Whether an end is scheduled, in either of the provider's two forms. */
    cancelAtPeriodEnd: boolean('cancel_at_period_end').notNull().default(false),
    currentPeriodEnd: moment('current_period_end'),
    endsAt: moment('ends_at'),
    startedAt: moment('started_at'),
    pastDueSince: moment('past_due_since'),
    /** What the provider last answered, and the number of the last event stored before it was asked. */
    snapshot: text('snapshot'),
    snapshotNumber: bigint('snapshot_number', { mode: 'number' }),
    snapshotPastDueSince: moment('snapshot_past_due_since'),
    /** The same number of the last answer that was not past due: no run of failed payments reaches behind it. */
    settledNumber: bigint('settled_number', { mode: 'number' }).notNull().default(0),
    lastEventNumber: bigint('last_event_number', { mode: 'number' }).notNull().default(0),
    needsSync: boolean('needs_sync').notNull().default(false),
    syncedAt: moment('synced_at'),
    /** What an operator should look at. */
    problem: text('problem', { enum: ['unknown_to_provider', 'other_customer'] }),
  },
  (table) => [
    index('payment_subscriptions_organisation').on(table.organisationId, table.ended, table.startedAt),
    index('payment_subscriptions_sync').on(table.syncedAt).where(sql`${table.needsSync}`),
    index('payment_subscriptions_end').on(table.endsAt).where(sql`not ${table.ended}`),
    index('payment_subscriptions_period').on(table.currentPeriodEnd).where(sql`not ${table.ended}`),
  ],
);

/**
 * The ledger: every event that was received, as it came. Without foreign keys, because
 * it also holds what is not ours and outlives whom it is about.
 */
export const paymentEvents = pgTable(
  'payment_events',
  {
    id: text('id').primaryKey(),
    /** Our own order of arrival, given while the organisation's row is locked. */
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    type: text('type').notNull(),
    /** The provider's clock, in whole seconds. */
    created: bigint('created', { mode: 'number' }).notNull(),
    receivedAt: moment('received_at').notNull(),
    organisationId: uuid('organisation_id'),
    customerId: text('customer_id'),
    subscriptionId: text('subscription_id'),
    invoiceId: text('invoice_id'),
    /** What the event tells of its subscription's status; null where it tells none. */
    standing: text('standing', { enum: ['ended', 'past_due', 'other'] }),
    handled: boolean('handled').notNull(),
    outcome: text('outcome').notNull(),
    /** Whether an operator should look at it. */
    flagged: boolean('flagged').notNull().default(false),
    /** As text, because jsonb refuses U+0000. */
    payload: text('payload').notNull(),
  },
  (table) => [
    index('payment_events_newest').on(table.subscriptionId, table.created).where(sql`${table.standing} is not null`),
    index('payment_events_standing')
      .on(table.subscriptionId, table.standing, table.created, table.id)
      .where(sql`${table.standing} is not null`),
    index('payment_events_invoice').on(table.invoiceId).where(sql`${table.invoiceId} is not null`),
    index('payment_events_organisation').on(table.organisationId, table.created),
    index('payment_events_received').on(table.receivedAt),
  ],
);

/** Every price that was ever seen for a tier: old subscribers stay on theirs. */
export const paymentKnownPrices = pgTable('payment_known_prices', {
  priceId: text('price_id').primaryKey(),
  productId: text('product_id'),
  tier: text('tier', { enum: ['silver', 'gold'] }).notNull(),
});

/** What a tier costs at the provider now; an empty price where it has none that can be shown. */
export const paymentLivePrices = pgTable('payment_live_prices', {
  tier: text('tier', { enum: ['silver', 'gold'] }).primaryKey(),
  amount: bigint('amount', { mode: 'number' }),
  currency: text('currency'),
  interval: text('interval'),
  /** Null once the provider has told of a change. */
  lookedUpAt: moment('looked_up_at'),
});

/** What `operator billing-setup` made at the provider. */
export const paymentSettings = pgTable('payment_settings', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});
