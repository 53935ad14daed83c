import { eq, inArray } from 'drizzle-orm';
import type { Transaction } from '../db/client.ts';
import { paymentCustomers, paymentSubscriptions } from '../db/schema/billing.ts';
import { memberships } from '../db/schema/members.ts';
import { organisations } from '../db/schema/organisations.ts';

/**
 * Deletes, of the organisations that somebody who never proved their address came with,
 * those that have no member left: also one that an operator approved early, so that its
 * slug is free again. Only ever asked about the organisations of such people, never about
 * all: one whose last member went for another reason stays, and so does any that the
 * payment provider has ever known, because with its row the trace of its subscription
 * would go while the provider may still charge for it.
 */
export async function deleteDeserted(tx: Transaction, organisationIds: string[]): Promise<void> {
  // Whoever joins meanwhile waits here, and finds the organisation gone; whoever was faster is seen.
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
