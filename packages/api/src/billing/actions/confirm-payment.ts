import type { App } from '../../app.ts';
import type { Reader } from '../../auth/principal.ts';
import { type OrganisationPlan, readPlan } from '../../organisations/plan.ts';
import { leaseOf, readCustomer } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import type { Tier } from '../plans/plans.ts';
import { syncCustomer } from '../sync/sync.ts';

const waitMilliseconds = 3000;

/**
 * Asks the provider about the payment after the return from checkout, once and for at most
 * three seconds, and returns whether the organisation has a paid plan. The return address
 * grants nothing; if the provider does not answer, the payment is not confirmed yet. Concurrent calls
 * for an organisation wait for each other, and once one has confirmed the payment none asks any more.
 *
 * @throws AppError NO_ORGANISATION; TOO_MANY after 60 calls of a user in ten minutes that ask the provider.
 */
export async function confirmPayment(app: App, principal: Reader): Promise<{ confirmed: boolean; tier: Tier }> {
  const organisationId = principal.requireOrganisation().id;

  if (!isPaid(await readPlan(app, organisationId)) && app.payment !== null) {
    // Each user has a limit of their own: a member who uses it up does not keep a payment from the others.
    await app.throttle.take({ 'confirmation-user': principal.user.id });
    await Promise.race([syncQuietly(app, organisationId), timeout()]);
  }
  const plan = await readPlan(app, organisationId);
  return { confirmed: isPaid(plan), tier: plan.tier };
}

/** Whether a subscription gives a plan; one whose tier is below an agreed one counts too. */
function isPaid({ source, subscription }: OrganisationPlan): boolean {
  if (source === 'operator') return subscription?.status === 'active' || subscription?.status === 'trialing';
  return source === 'subscription';
}

async function syncQuietly(app: App, organisationId: string): Promise<void> {
  try {
    const customer = await readCustomer(app, organisationId);
    if (customer === null) return;
    const customerId = customer.id;
    // With a job's limits: the page does not wait for it, and a slow answer confirms the payment all the same.
    await withLease(app, leaseOf(organisationId), async (ask) => {
      if (isPaid(await readPlan(app, organisationId))) return;
      await syncCustomer(app, ask, { organisationId, customerId });
    });
  } catch (error) {
    app.log.warn('A payment could not be confirmed with the provider yet.', { organisationId, error });
  }
}

function timeout(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMilliseconds).unref());
}
