import { eq, inArray } from 'drizzle-orm';
import type { Transaction } from '../platform/db/client.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { memberships } from '../platform/db/schema/members.ts';
import { organisations } from '../platform/db/schema/organisations.ts';

/**
 * Deletes those of the given organisations that have no member left, including approved ones, so
 * that their slugs are free again. To be called only with the organisations of users who never
 * verified their address: an organisation that lost its last member for another reason stays. An
 * organisation that the payment provider knows also stays, because the provider may still charge for
 * a subscription that only this row identifies.
 */
export async function deleteWithoutMembers(tx: Transaction, organisationIds: string[]): Promise<void> {
  // A concurrent join waits for this lock and then finds no organisation; a membership that was committed before
  // is counted.
  const locked = await tx
    .select({ id: organisations.id })
    .from(organisations)
    .where(inArray(organisations.id, organisationIds))
    .orderBy(organisations.id)
    .for('update');

  for (const { id } of locked) {
    const members = await tx.$count(memberships, eq(memberships.organisationId, id));
    const customers = await tx.$count(paymentCustomers, eq(paymentCustomers.organisationId, id));
    const subscriptions = await tx.$count(paymentSubscriptions, eq(paymentSubscriptions.organisationId, id));
    if (members + customers + subscriptions === 0) await tx.delete(organisations).where(eq(organisations.id, id));
  }
}
