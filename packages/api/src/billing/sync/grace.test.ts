import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { App } from '../../app.ts';
import { newId } from '../../db/id.ts';
import { paymentCustomers, paymentSubscriptions } from '../../db/schema/billing.ts';
import { hourSeconds } from '../../durations.ts';
import { makeMember } from '../../testing/billing.ts';
import { deliver, makeEvent } from '../../testing/payment/payment-events.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';
import { requireSubscriptionState } from '../projection/provider-objects.ts';
import { storeSnapshot } from './store-snapshot.ts';
import { noSyncs } from './sync-queue.ts';

const billing = useBillingTest({ work: false });

const start = Math.floor(Date.UTC(2026, 2, 1) / 1000);

/** A subscription whose events and answers a test gives one by one. Its clock is both ours and the provider's. */
async function newSubscription() {
  const { organisationId } = await makeMember(billing);
  const unique = newId(billing.app.now());
  const names = { id: `sub_${unique}`, customer: `cus_${unique}` };
  let seconds = start;
  const now = () => new Date(seconds * 1000);
  const app: App = { ...billing.app, now, syncs: noSyncs };
  const owner = { organisationId, customerId: names.customer };
  await app.db
    .insert(paymentCustomers)
    .values({ ...owner, generation: 1, livemode: false, createdAt: billing.app.now() });

  const objectOf = (status: string) => ({ ...names, status, created: start, metadata: { tier: 'silver' } });
  async function row() {
    const [found] = await app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, names.id));
    return found ?? null;
  }
  return {
    row,
    wait(hours: number) {
      seconds += hours * hourSeconds;
      return seconds;
    },
    /** Delivers the event of a change to a status. `created` is its second at the provider. */
    event: (status: string, created = seconds, before?: string) => {
      const previous = before === undefined ? {} : { previous_attributes: { status: before } };
      const more = { created, data: { object: objectOf(status), ...previous } };
      return deliver(app, makeEvent(app, 'customer.subscription.updated', {}, more));
    },
    /** Stores the provider's answer. */
    async answer(status: string) {
      const number = (await row())?.lastEventNumber ?? 0;
      await storeSnapshot(app, owner, requireSubscriptionState(objectOf(status), names.id), number);
    },
  };
}

const at = (seconds: number) => new Date(seconds * 1000);

test('the grace of a second failure counts from it if an event alone showed the recovery', async () => {
  const { event, answer, wait, row } = await newSubscription();
  await event('past_due');
  await answer('past_due');
  wait(100);
  await event('active');
  const failed = wait(20);
  // The event of the second failure was lost.
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(5);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test('the grace of a second failure counts from it if an answer alone showed the recovery', async () => {
  const { event, answer, wait, row } = await newSubscription();
  await event('past_due');
  await answer('past_due');
  wait(100);
  await answer('active');
  const failed = wait(700);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test('an event of an earlier failure that arrives during the next one does not move the start of its grace', async () => {
  const { event, answer, wait, row } = await newSubscription();
  await event('active');
  const earlier = wait(100);
  wait(100);
  // An answer alone showed the recovery, and the event of the first failure has not arrived.
  await answer('active');
  const failed = wait(700);
  await event('past_due', failed, 'active');
  await answer('past_due');
  await event('past_due', earlier, 'active');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

/** A change of the status, and what the service learns of it. */
const step = fc.record({
  status: fc.constantFrom('past_due', 'past_due', 'active', 'unpaid'),
  hours: fc.integer({ min: 1, max: 200 }),
  isDelivered: fc.boolean(),
  isAnswered: fc.boolean(),
});

test('the grace counts from the first sign of a failure since the last sign of a recovery, whichever events are lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const { event, answer, wait, row } = await newSubscription();
      let since: number | null = null;
      for (const { status, hours, isDelivered, isAnswered } of steps) {
        const now = wait(hours);
        if (isDelivered) await event(status, now);
        if (isAnswered) await answer(status);
        if (!isDelivered && !isAnswered) continue;
        since = status === 'past_due' ? (since ?? now) : null;
        expect(await row()).toMatchObject({ status, pastDueSince: since === null ? null : at(since) });
      }
    }),
    { numRuns: 60 },
  );
});

const lateStep = fc.record({
  status: fc.constantFrom('past_due', 'past_due', 'active', 'unpaid'),
  hours: fc.integer({ min: 1, max: 200 }),
  /** After how many further changes the event of a recovery arrives; null if it is lost. */
  delay: fc.constantFrom(0, 1, 3, null),
  isAnswered: fc.boolean(),
});

test('the grace never begins before the last recovery that an event or an answer shows, however late the event is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(lateStep, { minLength: 2, maxLength: 10 }), async (steps) => {
      const { event, answer, wait, row } = await newSubscription();
      const late: { place: number; status: string; created: number }[] = [];
      let recovered = 0;
      for (const [place, { status, hours, delay, isAnswered }] of steps.entries()) {
        const now = wait(hours);
        const isLast = place === steps.length - 1;
        if (delay !== null) late.push({ place: status === 'past_due' ? place : place + delay, status, created: now });
        for (const each of late.filter((one) => one.place === place || (isLast && one.place > place))) {
          await event(each.status, each.created);
          if (each.status !== 'past_due') recovered = Math.max(recovered, each.created);
        }
        if (!isAnswered && !isLast) continue;
        await answer(status);
        if (status !== 'past_due') recovered = now;
      }

      const since = (await row())?.pastDueSince ?? null;
      if (steps.at(-1)?.status !== 'past_due') expect(since).toBeNull();
      else expect(since?.getTime()).toBeGreaterThanOrEqual(recovered * 1000);
    }),
    { numRuns: 60 },
  );
});
