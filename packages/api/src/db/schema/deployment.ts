import { pgTable, text } from 'drizzle-orm/pg-core';

/** Secrets that the service made for itself. They are the same on every node. */
export const deploymentSecrets = pgTable('deployment_secrets', {
  name: text('name').primaryKey(),
  /** Random, base64url. */
  value: text('value').notNull(),
});
