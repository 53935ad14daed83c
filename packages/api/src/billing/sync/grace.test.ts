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

  let invoice: string | null = null;
  const objectOf = (status: string) => ({
    ...names,
    status,
    created: start,
    latest_invoice: invoice,
    metadata: { tier: 'silver' },
  });
  async function row() {
    const [found] = await app.db.select().from(paymentSubscriptions).where(eq(paymentSubscriptions.id, names.id));
    return found ?? null;
  }
  return {
    row,
    /** All later objects name this newest invoice; without it, the provider names none. */
    invoiceIs(id: string) {
      invoice = id;
    },
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

test('a late event from before the failure does not restart its grace if the event of the failure was lost', async () => {
  const { event, answer, wait, row, invoiceIs } = await newSubscription();
  invoiceIs('in_1');
  await event('trialing');
  const before = wait(100);
  invoiceIs('in_2');
  const failed = wait(1);
  await answer('past_due');
  wait(60);
  await event('active', before, 'trialing');
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(12);
  await event('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
});

test('the grace restarts if an event shows that past due ended, also while the newest invoice stays the same', async () => {
  const { event, answer, wait, row, invoiceIs } = await newSubscription();
  invoiceIs('in_draft');
  await answer('past_due');
  wait(1);
  await event('active', undefined, 'past_due');
  const failed = wait(1);
  await answer('past_due');
  expect(await row()).toMatchObject({ status: 'past_due', pastDueSince: at(failed) });
  wait(12);
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

type LateStep = { status: string; hours: number; delay: number | null; isAnswered: boolean };

const lateStep: fc.Arbitrary<LateStep> = fc.record({
  status: fc.constantFrom('past_due', 'past_due', 'active', 'unpaid'),
  hours: fc.integer({ min: 1, max: 200 }),
  /** After how many further changes the event of another status arrives; null if an event is lost. */
  delay: fc.constantFrom(0, 1, 3, null),
  isAnswered: fc.boolean(),
});

type LateEvent = { place: number; status: string; created: number; invoice: string; before: string | undefined };

/**
 * Lets the subscription live through the steps, with a new invoice for each failure. Returns the start of its grace, its
 * last known recovery and the provider's first answer about its failure, if it ends past due.
 */
async function live(steps: LateStep[], { answersRecoveries }: { answersRecoveries: boolean }) {
  const { event, answer, wait, row, invoiceIs } = await newSubscription();
  const late: LateEvent[] = [];
  let recovered = 0;
  let answered: number | null = null;
  let invoice = 'in_0';
  for (const [place, { status, hours, delay, isAnswered }] of steps.entries()) {
    const now = wait(hours);
    const isLast = place === steps.length - 1;
    const last = steps[place - 1]?.status;
    const before = last === status ? undefined : last;
    if (status !== 'past_due') answered = null;
    else if (last !== 'past_due') invoice = `in_${place}`;

    const arrives = status === 'past_due' ? place : place + (delay ?? 0);
    if (delay !== null) late.push({ place: arrives, status, created: now, invoice, before });
    for (const each of late.filter((one) => one.place === place || (isLast && one.place > place))) {
      invoiceIs(each.invoice);
      await event(each.status, each.created, each.before);
      if (each.status !== 'past_due') recovered = Math.max(recovered, each.created);
    }
    const isRecovery = status !== 'past_due' && last === 'past_due';
    if (!isAnswered && !isLast && !(answersRecoveries && isRecovery)) continue;
    invoiceIs(invoice);
    await answer(status);
    if (status === 'past_due') answered ??= now;
    else recovered = now;
  }
  return {
    since: (await row())?.pastDueSince ?? null,
    recovered: at(recovered),
    answered: answered === null ? null : at(answered),
  };
}

const lateSteps = fc.array(lateStep, { minLength: 2, maxLength: 10 });

test('the grace never begins before the last recovery that an event or an answer shows, however late the event is', async () => {
  await fc.assert(
    fc.asyncProperty(lateSteps, async (steps) => {
      const { since, recovered, answered } = await live(steps, { answersRecoveries: false });
      if (answered === null) expect(since).toBeNull();
      else expect(since?.getTime()).toBeGreaterThanOrEqual(recovered.getTime());
    }),
    { numRuns: 60 },
  );
});

test('the grace begins at the first answer about its failure at the latest, however late older events are', async () => {
  await fc.assert(
    fc.asyncProperty(lateSteps, async (steps) => {
      const { since, answered } = await live(steps, { answersRecoveries: true });
      if (answered !== null) expect(since?.getTime()).toBeLessThanOrEqual(answered.getTime());
    }),
    { numRuns: 60 },
  );
});
