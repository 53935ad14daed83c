import { sql } from 'drizzle-orm';
import { boolean, check, index, pgTable, primaryKey, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';
import { organisations } from './organisations.ts';

export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    email: text('email').notNull().unique(),
    emailVerifiedAt: moment('email_verified_at'),
    name: text('name'),
    passwordHash: text('password_hash'),
    operator: boolean('operator').notNull().default(false),
    /**
     * Whether the user signed up by an invitation and has not belonged to an organisation yet. Such
     * a user awaits approval.
     */
    invitedOnly: boolean('invited_only').notNull().default(false),
    /**
     * Whether `npm start` created the user. A service that other machines can reach refuses to start
     * while there is one.
     */
    demo: boolean('demo').notNull().default(false),
    /**
     * Whether an API key or an import created the account, made its user a member, or found it unclaimed. The company
     * counts on it: it is not deleted for being unverified, and a link for a lost password sets its first one.
     */
    provisioned: boolean('provisioned').notNull().default(false),
    onboardedAt: moment('onboarded_at'),
    suspendedAt: moment('suspended_at'),
    /** The random name that the user's passkeys carry (WebAuthn §5.4.3); null until the first one is set up. */
    passkeyHandle: text('passkey_handle').unique(),
    /**
     * Since when passkeys open no session by themselves, and pages lead to the review of the account's factors: somebody
     * set a password or changed the address by a link. Null again once the user has answered it.
     */
    reviewSince: moment('review_since'),
    /**
     * Until when an operator who must have a second factor and has none keeps the power of the mark; in the past it is
     * lost until the mark is granted again. Null where there is no such time: a factor was set up before it.
     */
    factorDueAt: moment('factor_due_at'),
    lastOrganisationId: uuid('last_organisation_id').references(() => organisations.id, { onDelete: 'set null' }),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    index('users_last_organisation').on(table.lastOrganisationId),
    index('users_domain').on(sql`split_part(${table.email}, '@', 2)`),
    index('users_email_beginning').on(table.email.op('text_pattern_ops')),
    index('users_name_beginning').on(sql`lower(${table.name}) text_pattern_ops`),
    index('users_invited_only').on(table.createdAt).where(sql`${table.invitedOnly}`),
    // What the start of the time of operators without a factor looks for.
    index('users_operators').on(table.id).where(sql`${table.operator}`),
    // Whether there is a password of another system, which each sign-in asks.
    index('users_imported_password').on(table.id).where(sql`${table.passwordHash} like 'imported:%'`),
    index('users_unverified').on(table.createdAt).where(sql`${table.emailVerifiedAt} is null`),
    // The accounts that nobody followed up (isUnclaimed), and those of the identity provider that wait for approval.
    index('users_unclaimed')
      .on(table.id)
      .where(sql`${table.passwordHash} is null and ${table.onboardedAt} is null and not ${table.provisioned}`),
    // What each start of a public service looks for.
    index('users_demo').on(table.email).where(sql`${table.demo}`),
  ],
);

/**
 * The subjects of users at the identity provider. By constraint a subject belongs to one user, and a
 * user has at most one linked subject. An unlinked subject is kept and refused.
 */
export const identities = pgTable(
  'identities',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** In the form of canonicalIssuer. */
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    /** The address that the provider named when the subject was linked, by which people recognise it; null if unknown. */
    email: text('email'),
    linkedAt: moment('linked_at').notNull(),
    unlinkedAt: moment('unlinked_at'),
    /**
     * Whether a sign-in with it counts as a second factor of its own where the deployment trusts the provider: it created
     * the account, was connected in a fresh session, or the account's own factor was given once in a sign-in with it.
     */
    countsAsFactor: boolean('counts_as_factor').notNull().default(false),
  },
  (table) => [
    unique('identities_subject').on(table.issuer, table.subject),
    uniqueIndex('identities_linked').on(table.userId).where(sql`${table.unlinkedAt} is null`),
    index('identities_user').on(table.userId),
  ],
);

/**
 * The values typed at a sign-up. They become valid only in the same browser, when it opens the
 * sign-up's link or sends the token from the link's page.
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
    /** Whether the user signed up by an invitation, and so gets no organisation of their own. */
    invited: boolean('invited').notNull().default(false),
    /** The hash of the browser's cookie (sign-up.ts). It identifies the browser when the link is opened. */
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
    /** The sign-up that the link belongs to, or null. */
    signUpId: uuid('sign_up_id').references(() => signUps.id, { onDelete: 'set null' }),
    purpose: text('purpose', { enum: ['sign-up', 'change-address', 'lost-password'] }).notNull(),
    email: text('email').notNull(),
    /** For a change of address: the session that requested it, which does not end with the others. */
    keptSessionId: uuid('kept_session_id'),
    /** For a change of address: whether its user also revokes the API keys that they made. */
    revokesKeys: boolean('revokes_keys').notNull().default(false),
    /** The job that mails the link. A retry finds its own row by it. */
    jobId: uuid('job_id'),
    /**
     * Whether a browser known to the account requested the link. Known browsers have mail limits of
     * their own.
     */
    fromKnownBrowser: boolean('from_known_browser').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    /**
     * When the mail server accepted the mail. Null until then, and if the process ended before it
     * could store the time.
     */
    sentAt: moment('sent_at'),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (table) => [
    index('verification_links_user').on(table.userId, table.createdAt),
    index('verification_links_email').on(table.email, table.createdAt),
    index('verification_links_sign_up').on(table.signUpId).where(sql`${table.signUpId} is not null`),
    check('verification_links_purpose', sql`${table.purpose} in ('sign-up', 'change-address', 'lost-password')`),
  ],
);

/**
 * The change of address that a user has requested and not finished, the same whether or not the new address has an
 * account, so that the page can show it. A link is mailed only while its row is here.
 */
export const addressChanges = pgTable(
  'address_changes',
  {
    userId: uuid('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    email: text('email').notNull(),
    revokesKeys: boolean('revokes_keys').notNull().default(false),
    /** When the page stops showing it: the links live as long from their own mail on. */
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('address_changes_expires').on(table.expiresAt)],
);

/** Single-use tokens in links and forms that are not mailed. Each is valid for one purpose. */
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
    /**
     * The verification link whose page contains the token; the token ends with the link. Null for
     * password links.
     */
    linkHash: text('link_hash').references(() => verificationLinks.tokenHash, { onDelete: 'cascade' }),
    /** The user or the API key that made a password link; null for an admin command. */
    createdBy: uuid('created_by'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    index('one_time_tokens_user').on(table.userId),
    index('one_time_tokens_link').on(table.linkHash),
    index('one_time_tokens_creator').on(table.createdBy).where(sql`${table.createdBy} is not null`),
    check(
      'one_time_tokens_purpose',
      sql`${table.purpose} in ('password-link', 'new-password', 'keep-password', 'change-address', 'approval')`,
    ),
  ],
);

/**
 * Browsers that have signed in to an account before; a browser may have several users. The token
 * grants no access: a row only changes which limits a request counts in.
 */
export const knownBrowsers = pgTable(
  'known_browsers',
  {
    tokenHash: text('token_hash').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The time of the user's last sign-in in this browser. */
    signedInAt: moment('signed_in_at').notNull(),
    /** Of their first one. A browser answers only for those that came after it. */
    firstSignedInAt: moment('first_signed_in_at').notNull(),
    /** How the browser named itself, and its address, at the first sign-in. */
    userAgent: text('user_agent'),
    client: text('client'),
    /** When the user said that they know the browser; null until then, but for the first browser of a user. */
    acknowledgedAt: moment('acknowledged_at'),
    /** Until when a sign-in from the browser skips the second step; null where the user did not ask for it. */
    trustedUntil: moment('trusted_until'),
  },
  (table) => [
    primaryKey({ columns: [table.tokenHash, table.userId] }),
    index('known_browsers_user').on(table.userId, table.signedInAt),
    index('known_browsers_signed_in').on(table.signedInAt),
  ],
);
