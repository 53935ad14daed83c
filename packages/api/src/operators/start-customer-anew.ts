import { and, eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import { currentCustomer, fateOf, leaseOf } from '../billing/customer.ts';
import { endUnknown } from '../billing/end-unknown.ts';
import { withLease } from '../billing/lease.ts';
import { ofOurMode } from '../billing/mode.ts';
import { requirePayment } from '../billing/require-payment.ts';
import { syncOrganisation } from '../billing/sync.ts';
import { paymentCustomers, paymentSubscriptions } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { findOrganisation } from './find.ts';

/**
 * Gives up an organisation's customer that the provider does not know under our key, with
 * the subscriptions of which the same is true, so that its next checkout makes a new one.
 * For an operator who is certain that the key is right. Says what was given up.
 *
 * @throws Refusal NOT_FOUND, BILLING_UNAVAILABLE, PROVIDER_UNAVAILABLE; VALIDATION where
 *   there is no customer to give up, or where the provider knows it.
 */
export async function startCustomerAnew(app: App, slug: string): Promise<string> {
  const { key } = requirePayment(app);
  const { id: organisationId } = await findOrganisation(app.db, slug);

  return withLease(app, leaseOf(organisationId), async (ask, holder) => {
    const customerId = await currentCustomer(app, organisationId);
    if (customerId === null) throw new Refusal('VALIDATION', `${slug} has no customer to give up.`);
    if ((await fateOf(app, ask, { organisationId, customerId })) === 'known') {
      throw new Refusal('VALIDATION', `The payment provider knows ${customerId} of ${slug}. It stays.`);
    }

    const { unknown } = await syncOrganisation(app, ask, { organisationId, holder });
    const given = await app.db.transaction(async (tx) => {
      const customer = eq(paymentCustomers.customerId, customerId);
      await tx.update(paymentCustomers).set({ goneAt: app.now(), problem: null }).where(customer);
      const theirs = and(
        eq(paymentSubscriptions.customerId, customerId),
        eq(paymentSubscriptions.ended, false),
        ofOurMode(app, paymentSubscriptions.livemode),
      );
      const rows = await tx.select({ id: paymentSubscriptions.id }).from(paymentSubscriptions).where(theirs);
      const ids = rows.map(({ id }) => id).filter((id) => unknown.includes(id));
      await endUnknown(tx, ids);
      const details = { customer: customerId, subscriptions: ids.join(' '), key };
      await record(tx, app.now(), { action: 'customer-started-anew', organisationId, details });
      return ids;
    });
    const plans = given.length === 0 ? '' : ` and ${given.join(', ')}`;
    return `Gave up ${customerId}${plans}. The next checkout of ${slug} makes a new customer.`;
  });
}
