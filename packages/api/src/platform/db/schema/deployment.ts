import { bigint, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/** Secrets that the service generated. They are the same on every node. */
export const deploymentSecrets = pgTable('deployment_secrets', {
  name: text('name').primaryKey(),
  /** Random, base64url, encrypted where SECRET_KEY is set and the name is not that of the log's pseudonyms. */
  value: text('value').notNull(),
  /** Names the key of SECRET_KEY that encrypts the value; '' without one. */
  encryptedBy: text('encrypted_by').notNull().default(''),
});

/** When a job of a kind last succeeded on any node. The row of a kind is created when its queue is first opened. */
export const jobSuccesses = pgTable('job_successes', {
  kind: text('kind').primaryKey(),
  at: moment('at').notNull(),
});

/** How often a client, a network, an address, a user or an organisation was counted within a window, on all nodes. */
export const rateLimits = pgTable('rate_limits', {
  key: text('key').primaryKey(),
  points: integer('points').notNull().default(0),
  expire: bigint('expire', { mode: 'number' }),
});
