import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentCustomers } from '../../db/schema/billing.ts';
import { organisations } from '../../db/schema/organisations.ts';
import { isMissing } from '../../providers/payment.ts';
import { checkCustomer, leaseOf } from './customer.ts';
import { withLease } from './lease.ts';
import { ofOurMode } from './mode.ts';

/**
 * Gives the provider an organisation's billing address, if the customer has not got it yet.
 * Under the lease it reads the address as it is now and stores what it gave: jobs that run in
 * any order end with the newest address, and one that was never given stays due.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE.
 */
export async function syncContact(app: App, organisationId: string): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    const [due] = await dueContacts(app, eq(organisations.id, organisationId));
    if (due === undefined) return;

    const { customerId, email } = due;
    try {
      await ask((provider) => provider.customers.update(customerId, { email: email ?? '' }));
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Flagged or marked as gone, it is no longer due.
      await checkCustomer(app, ask, { organisationId, customerId });
      return;
    }
    await app.db
      .update(paymentCustomers)
      .set({ contactEmail: email })
      .where(eq(paymentCustomers.customerId, customerId));
  });
}

/** Returns the current customers whose organisation has another billing address than they were last given. */
export async function dueContacts(app: App, which?: SQL) {
  const rows = await app.db
    .select({
      organisationId: organisations.id,
      customerId: paymentCustomers.customerId,
      email: organisations.billingEmail,
    })
    .from(paymentCustomers)
    .innerJoin(organisations, eq(organisations.id, paymentCustomers.organisationId))
    .where(
      and(
        which,
        isNull(paymentCustomers.goneAt),
        isNull(paymentCustomers.problem),
        isNotNull(paymentCustomers.customerId),
        ofOurMode(app, paymentCustomers.livemode),
        sql`${organisations.billingEmail} is distinct from ${paymentCustomers.contactEmail}`,
      ),
    )
    .limit(500);
  return rows.flatMap(({ customerId, ...row }) => (customerId === null ? [] : [{ ...row, customerId }]));
}
