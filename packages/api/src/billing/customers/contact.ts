import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { isMissing } from '../../platform/providers/payment/connection.ts';
import { setCustomerEmail } from '../../platform/providers/payment/customers.ts';
import { checkCustomer, leaseOf } from './customer.ts';
import { withLease } from './lease.ts';

/**
 * Sets an organisation's billing e-mail address at its customer, if the customer has another one. The
 * address is read under the lease, so that jobs in any order end with the newest one. An address
 * that could not be set stays due.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE.
 */
export async function syncContact(app: App, organisationId: string): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    const [due] = await dueContacts(app, eq(organisations.id, organisationId));
    if (due === undefined) return;

    const { customerId, email } = due;
    try {
      await setCustomerEmail(ask, customerId, email);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // The check flags the customer or marks it as gone: then the address is no longer due.
      await checkCustomer(app, ask, { organisationId, customerId });
      return;
    }
    await app.db
      .update(paymentCustomers)
      .set({ contactEmail: email })
      .where(eq(paymentCustomers.customerId, customerId));
  });
}

/** Returns current customers whose address differs from their organisation's billing e-mail address, at most 500. */
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
        sql`${organisations.billingEmail} is distinct from ${paymentCustomers.contactEmail}`,
      ),
    )
    // An address that the provider keeps refusing stays due, and must not take the place of others for ever.
    .orderBy(sql`random()`)
    .limit(500);
  return rows.flatMap(({ customerId, ...row }) => (customerId === null ? [] : [{ ...row, customerId }]));
}
