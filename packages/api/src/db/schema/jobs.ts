import { pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/** When a job of a kind last succeeded on any node. The row of a kind is made when its queue is first opened. */
export const jobSuccesses = pgTable('job_successes', {
  kind: text('kind').primaryKey(),
  at: moment('at').notNull(),
});
