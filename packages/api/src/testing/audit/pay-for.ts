import { eq } from 'drizzle-orm';
import { paymentEvents } from '../../platform/db/schema/billing.ts';
import { type BillingTest, ownedBy } from '../billing.ts';
import type { Owner } from './audit-case.ts';

/** Pays for the Silver plan of an owner's organisation. Returns the subscription, and an event about it. */
export async function payFor(
  test: BillingTest,
  { api, principal }: Owner,
): Promise<{ subscriptionId: string; eventId: string }> {
  test.sandbox.payment.payCheckout((await api.billing.checkout({ tier: 'silver' })).url);
  await test.settled();
  const [subscription] = ownedBy(test, principal).subscriptions;
  const [event] = await test.app.db
    .select()
    .from(paymentEvents)
    .where(eq(paymentEvents.organisationId, principal.organisationId ?? ''));
  return { subscriptionId: subscription?.id ?? '', eventId: event?.id ?? '' };
}
