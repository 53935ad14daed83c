import { and, eq, isNull } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Administrator } from '../auth/principal.ts';
import { eraseOrganisation } from '../members/leaving/delete-organisation.ts';
import { paymentCheckouts, paymentSubscriptions } from '../platform/db/schema/billing.ts';
import { organisations } from '../platform/db/schema/organisations.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { makeMember, ownedBy } from '../testing/billing.ts';
import { useBillingTest } from '../testing/use-billing-test.ts';
import { confirmPayment } from './actions/confirm-payment.ts';
import { type BillingApp, requireBilling } from './actions/require-payment.ts';
import { setCancellation } from './actions/set-cancellation.ts';
import { startCheckout } from './actions/start-checkout.ts';
import { startedStatuses } from './subscription/write-row.ts';
import { enqueueDue } from './sync/jobs.ts';
import { reconcileAll } from './sync/reconcile.ts';

// Two nodes that work share one database and one provider.
const timeouts = { leaseSeconds: 60, actionSeconds: 120 };
const first = useBillingTest({ timeouts });
let second: TestApp;
let other: BillingApp;
beforeAll(async () => {
  const environment = {
    DATABASE_URL: first.app.config.databaseUrl ?? '',
    PAYMENT_API_URL: first.sandbox.payment.apiUrl,
  };
  second = await startTestApp({ environment, timeouts });
  other = requireBilling(second.app);
});
afterAll(() => second.close());

const provider = () => first.sandbox.payment;
type Buyer = Administrator & { organisationId: string };

const openOf = (buyer: Buyer) => ownedBy(first, buyer).sessions.filter(({ status }) => status === 'open');
const runningOf = (buyer: Buyer) =>
  ownedBy(first, buyer).subscriptions.filter(({ status }) => startedStatuses.includes(status));

const acts = {
  silver: (app, buyer) => startCheckout(app, buyer, { tier: 'silver' }),
  gold: (app, buyer) => startCheckout(app, buyer, { tier: 'gold' }),
  async pay(_, buyer) {
    const [open] = openOf(buyer);
    if (open !== undefined) provider().payCheckout(open.id);
    expect(runningOf(buyer).length).toBeLessThanOrEqual(1);
  },
  cancel: (app, buyer) => setCancellation(app, buyer, { cancel: true }),
  resume: (app, buyer) => setCancellation(app, buyer, { cancel: false }),
  confirm: (app, buyer) => confirmPayment(app, buyer),
  async 'end at the provider'(app, buyer) {
    for (const { id } of runningOf(buyer)) await app.payment.ask((api) => api.subscriptions.cancel(id));
  },
  'lose an answer': async () => provider().failNext('close', { count: 2, afterEffect: true }),
  'lose the events': async () => provider().set({ drop_deliveries: true }),
  delete: (app, { organisationId }) => eraseOrganisation(app, organisationId),
} satisfies Record<string, (app: BillingApp, buyer: Buyer) => Promise<unknown>>;

const act = fc.record({
  name: fc.constantFrom<keyof typeof acts>(
    'silver',
    'gold',
    'pay',
    'pay',
    'pay',
    ...(Object.keys(acts) as (keyof typeof acts)[]),
  ),
  isOnSecond: fc.boolean(),
  isAwaited: fc.boolean(),
});

/** Carries out acts, of which some overlap. A refused one is skipped. */
async function carryOut(buyer: Buyer, all: { name: keyof typeof acts; isOnSecond: boolean; isAwaited: boolean }[]) {
  const overlapping: Promise<unknown>[] = [];
  for (const { name, isOnSecond, isAwaited } of all) {
    const done = acts[name](isOnSecond ? other : first.app, buyer).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'AssertionError') throw error;
    });
    if (isAwaited) await done;
    else overlapping.push(done);
  }
  await Promise.all(overlapping);
}

test('whatever overlaps or is lost, one subscription runs at most, no page can be paid beside it, and none outlives its organisation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 16, size: 'max' }), async (all) => {
      provider().reset();
      provider().set({ retry_first_ms: 30, duplicate_deliveries: true, reorder_deliveries: true });
      const buyer = await makeMember(first);
      await startCheckout(first.app, buyer, { tier: 'silver' });
      await carryOut(buyer, all);

      provider().set({ api_failure: null, drop_deliveries: false });
      await reconcileAll(first.app);
      await enqueueDue(first.app);
      await first.settled();
      const [running, open] = [runningOf(buyer), openOf(buyer)];
      const { organisationId } = buyer;
      const isDeleted = (await first.app.db.$count(organisations, eq(organisations.id, organisationId))) === 0;
      expect(running.length + open.length).toBeLessThanOrEqual(isDeleted ? 0 : 1);
      if (isDeleted) return;

      const stored = await first.app.db
        .select({ id: paymentSubscriptions.id, status: paymentSubscriptions.status })
        .from(paymentSubscriptions)
        .where(and(eq(paymentSubscriptions.organisationId, organisationId), eq(paymentSubscriptions.ended, false)));
      expect(stored).toEqual(running.map(({ id, status }) => ({ id, status })));
      const isOpen = and(eq(paymentCheckouts.organisationId, organisationId), isNull(paymentCheckouts.closedAt));
      expect(await first.app.db.$count(paymentCheckouts, isOpen)).toBe(open.length);
    }),
    { numRuns: 8 },
  );
});
