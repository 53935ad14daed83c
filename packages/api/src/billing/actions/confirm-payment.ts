import type { App } from '../../app.ts';
import { organisationOf, type Principal } from '../../sessions/principal.ts';
import { currentCustomer, leaseOf } from '../customers/customer.ts';
import { doOrWait, withLease } from '../customers/lease.ts';
import { readPlan } from '../entitlement/read-plan.ts';
import type { Tier } from '../plans/plans.ts';
import { syncCustomer } from '../sync/sync.ts';

const waitMilliseconds = 3000;

/**
 * After the return from checkout: asks the provider once, three seconds at most, and says
 * whether a paid plan is there. The address itself grants nothing, and a provider that is
 * silent only means that it is not confirmed yet. However many tabs of an organisation ask
 * at once, one of them talks to the provider, and the others read what it stored.
 */
export async function confirmPayment(app: App, principal: Principal): Promise<{ confirmed: boolean; tier: Tier }> {
  principal.require('READ');
  const organisationId = organisationOf(principal).id;

  if ((await readPlan(app, organisationId)).tier === 'free' && app.payment !== null) {
    await Promise.race([syncQuietly(app, organisationId), timeout()]);
  }
  const { tier } = await readPlan(app, organisationId);
  return { confirmed: tier !== 'free', tier };
}

async function syncQuietly(app: App, organisationId: string): Promise<void> {
  try {
    const customerId = await currentCustomer(app, organisationId);
    if (customerId === null) return;
    await doOrWait(app, `confirmation:${organisationId}`, waitMilliseconds, async () => {
      await withLease(app, leaseOf(organisationId), (ask, holder) =>
        syncCustomer(app, ask, { organisationId, customerId, holder }),
      );
    });
  } catch (error) {
    app.log.warn('A payment could not be confirmed with the provider yet.', { organisationId, error });
  }
}

function timeout(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMilliseconds).unref());
}
