import { eq, sql } from 'drizzle-orm';
import { prepared, type Transaction } from '../db/client.ts';
import { organisations } from '../db/schema/organisations.ts';

/**
 * Makes what is stored about an organisation's billing happen one after the other.
 * Says false where the organisation is gone. Held for database work alone, never
 * while the provider is asked; it does not hold up new memberships.
 */
export async function lockOrganisation(tx: Transaction, organisationId: string): Promise<boolean> {
  const rows = await organisationRow(tx).execute({ organisationId });
  return rows.length > 0;
}

const organisationRow = prepared((db) =>
  db
    .select({ id: organisations.id })
    .from(organisations)
    .where(eq(organisations.id, sql.placeholder('organisationId')))
    .for('no key update')
    .prepare('payment_lock_organisation'),
);
