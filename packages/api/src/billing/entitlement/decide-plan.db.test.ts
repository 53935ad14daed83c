import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPlan } from '../../organisations/plan.ts';
import { newId } from '../../platform/db/id.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { isEnded } from '../../platform/providers/payment/subscription-state.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { makeMember } from '../../testing/billing.ts';
import { decideNow } from '../../testing/factories.ts';
import { ranked } from './rank-subscriptions.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp({ work: false, environment: { PAYMENT_DISPUTES: 'end' } });
  running.stopClock();
});
afterAll(() => running.close());

const statuses = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete', 'on_holiday', 'canceled'];

/** A subscription as its row holds it. Times in days before now. */
const subscription = fc.record({
  status: fc.constantFrom('unpaid', 'unpaid', ...statuses),
  tier: fc.constantFrom('silver', 'gold', null),
  startedAt: fc.integer({ min: 0, max: 900 }),
  pastDueSince: fc.integer({ min: 0, max: 14 }),
  endsAt: fc.option(fc.integer({ min: -5, max: 5 })),
  disputed: fc.boolean(),
  invoiceTrouble: fc.constantFrom(null, null, null, 'uncollectible' as const, 'void' as const),
});

test('the subscription that decides the plan is found among any number of others', async () => {
  const { app } = running;
  const ago = (days: number) => new Date(app.now().getTime() - days * dayMilliseconds);

  await fc.assert(
    fc.asyncProperty(fc.array(subscription, { minLength: 1, maxLength: 60, size: 'max' }), async (made) => {
      const { organisationId } = await makeMember(running);
      const rows = made.map(({ status, tier, startedAt, pastDueSince, endsAt, invoiceTrouble, disputed }) => ({
        id: `sub_${newId(app.now())}`,
        organisationId,
        customerId: 'customer',
        status,
        ended: isEnded({ status }),
        tier,
        startedAt: ago(startedAt),
        pastDueSince: status === 'past_due' ? ago(pastDueSince) : null,
        endsAt: endsAt === null ? null : ago(endsAt),
        invoiceTrouble,
        disputed,
      }));
      await app.db.insert(paymentSubscriptions).values(rows);
      await decideNow(app, organisationId);

      const [best] = ranked(app.plans, rows, app.config, app.now());
      const deciding = best?.row ?? null;
      const { subscription } = await readPlan(app, organisationId);
      // Of ended subscriptions, which give no plan, the newest few are read.
      if (deciding === null || deciding.ended) expect(subscription?.status).toBe(deciding?.status);
      else expect(subscription?.id).toBe(deciding.id);
    }),
    { numRuns: 60 },
  );
});
