import { and, eq, isNotNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { isUuid } from '../../platform/db/id.ts';
import { paymentCustomers } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { ofOurMode } from '../entitlement/read-plan.ts';
import { leaseOf, repeatCustomerRequest } from './customer.ts';
import { withLease } from './lease.ts';

/**
 * Returns the customer at the provider of an organisation that has none here, because it was created after the backup
 * from which the database was restored. The request for a customer always has the same idempotency key, so for a day
 * the provider answers with the one that it created. Later it creates another one. Null if there is no such
 * organisation, or if it has a customer.
 *
 * @throws AppError BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE.
 */
export async function recoverCustomer(app: App, organisationId: string): Promise<string | null> {
  if (!isUuid(organisationId)) return null;
  const isKnown = (await app.db.$count(organisations, eq(organisations.id, organisationId))) > 0;
  const customers = and(
    eq(paymentCustomers.organisationId, organisationId),
    isNotNull(paymentCustomers.customerId),
    ofOurMode(app, paymentCustomers.livemode),
  );
  if (!isKnown || (await app.db.$count(paymentCustomers, customers)) > 0) return null;

  return withLease(app, leaseOf(organisationId), (ask) => repeatCustomerRequest(app, ask, organisationId));
}
