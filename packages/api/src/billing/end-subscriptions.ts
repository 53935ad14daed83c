import { and, eq } from 'drizzle-orm';
import type { App } from '../app.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import { currentCustomer, leaseOf } from './customer.ts';
import { endEverything } from './end-now.ts';
import { withLease } from './lease.ts';
import { isEnded } from './subscription-state.ts';
import { syncCustomer } from './sync.ts';

/**
 * Ends an organisation's subscriptions at the provider at once, and closes its open
 * checkouts, before the organisation itself goes. Ended ones stay as they are.
 *
 * @throws Refusal PROVIDER_UNAVAILABLE; BILLING_UNAVAILABLE where billing is off and a
 *   subscription still runs.
 */
export async function endSubscriptions(app: App, organisationId: string): Promise<void> {
  if (app.payment === null) return requireNothingRuns(app, organisationId);
  const customerId = await currentCustomer(app, organisationId);
  if (customerId === null) return;

  await withLease(app, leaseOf(organisationId), async (ask, holder) => {
    const open = await ask((provider) =>
      provider.checkout.sessions.list({ customer: customerId, status: 'open', limit: 100 }),
    );
    for (const { id } of open.data) await ask((provider) => provider.checkout.sessions.expire(id));

    const all = await syncCustomer(app, ask, { organisationId, customerId, holder });
    await endEverything(
      ask,
      [customerId],
      all.filter((state) => !isEnded(state)),
    );
  });
}

async function requireNothingRuns(app: App, organisationId: string): Promise<void> {
  const [running] = await app.db
    .select({ id: paymentSubscriptions.id })
    .from(paymentSubscriptions)
    .where(and(eq(paymentSubscriptions.organisationId, organisationId), eq(paymentSubscriptions.ended, false)))
    .limit(1);
  if (running !== undefined) {
    throw new Refusal('BILLING_UNAVAILABLE', 'Billing is not available on this deployment.');
  }
}
