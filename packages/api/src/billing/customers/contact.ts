import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import type { Executor } from '../../platform/db/client.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { isMissing } from '../../platform/providers/payment/connection.ts';
import * as provider from '../../platform/providers/payment/customers.ts';
import { readAddress } from '../../platform/security/address.ts';
import { checkCustomer, leaseOf, readCustomer } from './customer.ts';
import { withLease } from './lease.ts';

/**
 * Sets an organisation's billing e-mail address at its customer, if it was changed here; and stores the name, the e-mail
 * address and the billing address that the customer has at the provider, where the user may have changed them (never the organisation's own
 * name). Both are read under the lease, so that jobs in any order end with the newest ones. An address that could not be
 * set stays due.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE.
 */
export async function syncContact(app: App, organisationId: string): Promise<void> {
  await withLease(app, leaseOf(organisationId), async (ask) => {
    const [due] = await dueContacts(app, eq(organisations.id, organisationId));
    const customerId = due?.customerId ?? (await readCustomer(app, organisationId))?.id;
    if (customerId === undefined) return;
    try {
      const shown =
        due === undefined
          ? await provider.readCustomer(ask, customerId)
          : await provider.setCustomerEmail(ask, customerId, due.email);
      if (due !== undefined) await storeSent(app.db, customerId, due.email);
      if (!shown.isDeleted) await storeShown(app, { organisationId, customerId }, shown);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // The check flags the customer or marks it as gone: then the address is no longer due.
      await checkCustomer(app, ask, { organisationId, customerId });
    }
  });
}

async function storeSent(db: Executor, customerId: string, email: string | null): Promise<void> {
  await db.update(paymentCustomers).set({ contactEmail: email }).where(eq(paymentCustomers.customerId, customerId));
}

/**
 * Stores what the customer shows. An address that equals what it was last given is no change, and one that was changed
 * here meanwhile stays: it is due. Neither is one that we would not accept ourselves.
 */
async function storeShown(
  app: App,
  { organisationId, customerId }: { organisationId: string; customerId: string },
  shown: provider.CustomerState,
): Promise<void> {
  await app.db.transaction(async (tx) => {
    if (!(await lockOrganisation(tx, organisationId))) return;
    const theirs = eq(organisations.id, organisationId);
    await tx.update(organisations).set({ billingName: shown.name, billingAddress: shown.address }).where(theirs);

    const [known] = await tx
      .select({ email: organisations.billingEmail, sent: paymentCustomers.contactEmail })
      .from(paymentCustomers)
      .innerJoin(organisations, eq(organisations.id, paymentCustomers.organisationId))
      .where(and(theirs, eq(paymentCustomers.customerId, customerId)));
    const email = shown.email === null ? null : readAddress(shown.email);
    if (known === undefined || known.email !== known.sent || email === known.sent) return;
    if (shown.email !== null && email === null) return;
    await tx.update(organisations).set({ billingEmail: email }).where(theirs);
    await storeSent(tx, customerId, email);
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
