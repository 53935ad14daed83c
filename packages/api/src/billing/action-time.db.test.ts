import { beforeEach, expect, test } from 'vitest';
import { type Administrator, requireApproved, requireOperator } from '../auth/principal.ts';
import { syncNow } from '../operators/events/drift.ts';
import { newId } from '../platform/db/id.ts';
import { startAwakeClock } from '../testing/awake-clock.ts';
import { makeSubscriber } from '../testing/billing.ts';
import { principalOf } from '../testing/principal.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { endSubscriptions } from './actions/end-subscriptions.ts';
import { openPortal } from './actions/open-portal.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { leaseOf } from './customers/customer.ts';
import { withLease } from './customers/lease.ts';
import { readRows } from './subscription/subscription-rows.ts';

const actionSeconds = 3;
const billing = useBillingTest({ timeouts: { actionSeconds } });

type Owner = Administrator & { organisationId: string };
const actions: [string, (principal: Owner) => Promise<unknown>][] = [
  ['checkout', (principal) => startCheckout(billing.app, principal, { tier: 'gold' })],
  ['portal', (principal) => openPortal(billing.app, principal, {})],
  ['cancel', (principal) => setCancellation(billing.app, principal, { cancel: true })],
  ['an operator’s sync', syncAsOperator],
  ['the end of an organisation', ({ organisationId }) => endSubscriptions(billing.app, organisationId)],
];

/** Syncs the organisation's subscription as the operator console does. */
async function syncAsOperator({ organisationId, user }: Owner) {
  const [row] = (await readRows(billing.app.db, { organisationId })).rows;
  const facts = {
    user: { ...user, operator: true },
    organisation: null,
    role: null,
    sessionId: newId(billing.app.now()),
  };
  const operator = requireOperator(requireApproved(principalOf({ ...facts, accountStatus: 'active' })));
  return syncNow(billing.app, operator, { subscription_id: row?.id ?? '' }, { address: '127.0.0.1', userAgent: null });
}

let principal: Owner;
beforeEach(async () => {
  principal ??= (await makeSubscriber(billing)).principal;
});

async function secondsOf(act: () => Promise<unknown>, code: string): Promise<number> {
  const awake = startAwakeClock();
  await expect(act()).rejects.toMatchObject({ code });
  return awake() / 1000;
}

test.each(actions)(
  'a provider that hangs keeps a user waiting no longer than one action may take: %s',
  async (_, act) => {
    billing.sandbox.payment.set({ api_failure: 'hang' });
    expect(await secondsOf(() => act(principal), 'PROVIDER_UNAVAILABLE')).toBeLessThan(2 * actionSeconds);
  },
);

test.each(actions)('the time of an action includes waiting for the lease: %s', async (_, act) => {
  let seconds = 0;
  await withLease(billing.app, leaseOf(principal.organisationId), async () => {
    seconds = await secondsOf(() => act(principal), 'BUSY');
  });
  expect(seconds).toBeLessThan(2 * actionSeconds);
});

test('an action has eight seconds', async () => {
  const { timeouts } = await import('../platform/config-timeouts.ts');
  expect(timeouts.actionSeconds).toBe(8);
});
