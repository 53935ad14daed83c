import { eq, sql } from 'drizzle-orm';
import { prepared, type Transaction } from '../platform/db/client.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/**
 * Locks an organisation's row until the transaction ends, so that changes of its billing and members
 * run in turn. New memberships are not blocked by the lock itself. Must not be held during a request
 * to the provider.
 *
 * @returns false if there is no such organisation.
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
