import { sql } from 'drizzle-orm';
import { bigint, index, integer, json, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { moment } from './columns.ts';

export const passkeys = pgTable(
  'passkeys',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** As the authenticator named it, base64url. */
    credentialId: text('credential_id').notNull().unique(),
    /** In the form of COSE, base64url. */
    publicKey: text('public_key').notNull(),
    /** The highest signature counter seen; 0 of an authenticator that counts nothing. */
    counter: bigint('counter', { mode: 'number' }).notNull(),
    transports: json('transports').$type<string[]>().notNull(),
    name: text('name').notNull(),
    createdAt: moment('created_at').notNull(),
    lastUsedAt: moment('last_used_at'),
    /** When its counter went back: there may be a copy, and it is refused from then on. */
    refusedAt: moment('refused_at'),
  },
  (table) => [index('passkeys_user').on(table.userId)],
);

/** The secrets of authenticator apps. A user has at most one that is confirmed and one that is being set up. */
export const totpSecrets = pgTable(
  'totp_secrets',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** In base32, encrypted by a key of SECRET_KEY. */
    secret: text('secret').notNull(),
    encryptedBy: text('encrypted_by').notNull(),
    /** The last time step whose code was used (RFC 6238 §5.2); codes of it and of earlier ones are void. */
    lastStep: bigint('last_step', { mode: 'number' }).notNull().default(0),
    createdAt: moment('created_at').notNull(),
    confirmedAt: moment('confirmed_at'),
  },
  (table) => [
    uniqueIndex('totp_secrets_confirmed').on(table.userId).where(sql`${table.confirmedAt} is not null`),
    uniqueIndex('totp_secrets_pending').on(table.userId).where(sql`${table.confirmedAt} is null`),
    // What the deletion of a user looks for: the two above have conditions.
    index('totp_secrets_user').on(table.userId),
    index('totp_secrets_key').on(table.encryptedBy),
  ],
);

/** The codes that replace a factor, each once: a used one has no row. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    codeHash: text('code_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
);

/**
 * Sign-ins between their first step and the second one. A row stays for its ten minutes after it has ended, because it
 * counts among those that began.
 */
export const stepAttempts = pgTable(
  'step_attempts',
  {
    /** The hash of the cookie. */
    idHash: text('id_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    organisationId: uuid('organisation_id'),
    /** The subject that the identity provider confirmed; null after a password. */
    idpSubject: text('idp_subject'),
    /** The identity that is linked to the account when the step is done; null if there is none to link. */
    linking: json('linking').$type<{ issuer: string; subject: string; email: string }>(),
    /** The hash of the browser's token in the cookie `known`; '' for a browser that the account does not know. */
    browserHash: text('browser_hash').notNull(),
    wrongAnswers: integer('wrong_answers').notNull().default(0),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    endedAt: moment('ended_at'),
  },
  (table) => [
    index('step_attempts_user').on(table.userId, table.createdAt),
    index('step_attempts_expiry').on(table.expiresAt),
  ],
);

/** Wrong codes of either kind, for a day: the limits slide over them. */
export const wrongCodes = pgTable(
  'wrong_codes',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** As in `step_attempts`. */
    browserHash: text('browser_hash').notNull(),
    at: moment('at').notNull(),
  },
  (table) => [index('wrong_codes_user').on(table.userId, table.at), index('wrong_codes_at').on(table.at)],
);

/** Challenges of passkeys that were answered, until they would have expired: each counts once. */
export const usedChallenges = pgTable(
  'used_challenges',
  {
    challengeHash: text('challenge_hash').primaryKey(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [index('used_challenges_expiry').on(table.expiresAt)],
);
