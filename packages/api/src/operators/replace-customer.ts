import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../app.ts';
import { recordAudit } from '../audit/record.ts';
import { requirePayment } from '../billing/actions/require-payment.ts';
import { checkCustomer, leaseOf, nextCustomer, readCustomer } from '../billing/customers/customer.ts';
import { withLease } from '../billing/customers/lease.ts';
import { endUnknown, syncOrganisation } from '../billing/sync/sync.ts';
import { paymentCustomers, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { AppError } from '../platform/errors.ts';
import { readOrganisationNames } from './find-accounts.ts';

/**
 * Gives up an organisation's customer that the provider does not know under our key, with
 * those of its subscriptions that the provider does not know either, so that the next
 * checkout creates a new customer. For an operator who is certain that the key is right. The subscriptions that the
 * provider still knows stay the organisation's: they are asked one by one, so that a checkout makes no second one.
 * Returns the organisation's customer, and the ids of the objects that were given up: none if the
 * customer was deleted at the provider.
 *
 * @throws AppError NOT_FOUND; BILLING_UNAVAILABLE; BUSY; PROVIDER_UNAVAILABLE; VALIDATION if
 *   there is no customer to give up, or if the provider knows it.
 */
export async function replaceCustomer(
  app: App,
  { organisationId }: { organisationId: string },
): Promise<{ customerId: string | null; givenUpIds: string[] }> {
  const { key } = requirePayment(app);
  const { slug } = await readOrganisationNames(app.db, organisationId);

  return withLease(app, leaseOf(organisationId), async (ask) => {
    const customerId = (await readCustomer(app, organisationId))?.id ?? null;
    const found = customerId === null ? 'none' : await checkCustomer(app, ask, { organisationId, customerId });
    const { unknown, failures } = await syncOrganisation(app, ask, { organisationId });
    if (failures.length > 0) throw failures[0];
    const notEnded = and(
      eq(paymentSubscriptions.organisationId, organisationId),
      eq(paymentSubscriptions.ended, false),
      inArray(paymentSubscriptions.id, unknown),
    );
    const rows = await app.db.select({ id: paymentSubscriptions.id }).from(paymentSubscriptions).where(notEnded);
    const givenUpIds = [...(found === 'unknown' ? [`${customerId}`] : []), ...rows.map(({ id }) => id)];
    if (givenUpIds.length === 0 && found !== 'deleted') throw nothingToGiveUp(slug, customerId);

    await app.db.transaction(async (tx) => {
      const ids = rows.map(({ id }) => id);
      await endUnknown(app, tx, organisationId, ids);
      if (found === 'unknown') {
        await tx
          .update(paymentCustomers)
          .set(nextCustomer)
          .where(eq(paymentCustomers.customerId, `${customerId}`));
      }
      const details = { given_up: givenUpIds.join(' '), key };
      await recordAudit(tx, app.now(), { action: 'customer-started-anew', organisationId, details });
    });
    return { customerId, givenUpIds };
  });
}

function nothingToGiveUp(slug: string, customerId: string | null): AppError {
  const sentence =
    customerId === null
      ? `${slug} has no customer to give up.`
      : `The payment provider knows ${customerId} of ${slug}. It stays.`;
  return new AppError('VALIDATION', sentence);
}
