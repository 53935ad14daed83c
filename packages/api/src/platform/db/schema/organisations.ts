import { sql } from 'drizzle-orm';
import { boolean, check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

export const organisations = pgTable(
  'organisations',
  {
    id: uuid('id').primaryKey(),
    slug: text('slug').notNull().unique(),
    name: text('name'),
    /** The address for the payment provider's mail; null if the organisation named none. */
    billingEmail: text('billing_email'),
    /** What stands on the invoices, as the payment provider last told it; null if nothing was entered there. */
    billingName: text('billing_name'),
    billingAddress: text('billing_address'),
    approval: text('approval', { enum: ['pending', 'approved', 'declined'] })
      .notNull()
      .default('pending'),
    /**
     * Whether an API key or an import created the organisation. The company typed its name, so other services know it
     * before a member has proved an address, and it may have no members.
     */
    provisioned: boolean('provisioned').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    approvedAt: moment('approved_at'),
    declinedAt: moment('declined_at'),
    declineReason: text('decline_reason'),
    /** Since when members must have a second factor to act here; null if the organisation does not require one. */
    secondFactorFrom: moment('second_factor_from'),
    /** Separate from the approval, so that restoring the organisation also restores its approval. */
    suspendedAt: moment('suspended_at'),
  },
  (table) => [
    check('organisations_approval', sql`${table.approval} in ('pending', 'approved', 'declined')`),
    index('organisations_slug_beginning').on(table.slug.op('text_pattern_ops')),
    index('organisations_name_beginning').on(sql`lower(${table.name}) text_pattern_ops`),
    // What the erasure of a user with this address looks for.
    index('organisations_billing_email').on(table.billingEmail).where(sql`${table.billingEmail} is not null`),
    index('organisations_pending').on(table.createdAt).where(sql`${table.approval} = 'pending'`),
    index('organisations_approved').on(table.approvedAt).where(sql`${table.approvedAt} is not null`),
    // For the sweep that erases declined organisations.
    index('organisations_declined').on(table.declinedAt, table.id).where(sql`${table.declinedAt} is not null`),
    // An approval clears the decline before it, so at most one of the two times is set.
    index('organisations_decided')
      .on(sql`coalesce(${table.declinedAt}, ${table.approvedAt})`, table.id)
      .where(sql`${table.approval} <> 'pending'`),
  ],
);
