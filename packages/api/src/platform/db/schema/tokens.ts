import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment } from './columns.ts';

/** The keys that sign tokens (docs/decisions/034). A row stays until the last token that it signed has expired. */
export const tokenKeys = pgTable(
  'token_keys',
  {
    /** The `kid` of the tokens that it signs. */
    id: uuid('id').primaryKey(),
    publicKey: jsonb('public_key').$type<{ kty: string; crv: string; x: string }>().notNull(),
    /** The private key as a JWK, encrypted where SECRET_KEY is set. */
    privateKey: text('private_key').notNull(),
    /** Names the key of SECRET_KEY that encrypts it; '' without one. A node signs with those only that it can decrypt. */
    encryptedBy: text('encrypted_by').notNull(),
    signsFrom: moment('signs_from').notNull(),
    /** When the next key takes over; null while there is no next key. */
    signsUntil: moment('signs_until'),
  },
  (table) => [
    index('token_keys_order').on(table.signsFrom),
    // At most one key of each key of SECRET_KEY has no successor, also under concurrency.
    uniqueIndex('token_keys_newest').on(table.encryptedBy).where(sql`${table.signsUntil} is null`),
  ],
);
