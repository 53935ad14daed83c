import fc from 'fast-check';
import { expect, test } from 'vitest';
import { at, reportedSubscription } from '../../testing/payment/reported-subscription.ts';
import { useBillingTest } from '../../testing/use-billing-test.ts';

const billing = useBillingTest({ work: false });

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
      const { event, answer, wait, row } = await reportedSubscription(billing);
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

type LateStep = { status: string; hours: number; delay: number | null; isAnswered: boolean; isSameInvoice: boolean };

const lateStep: fc.Arbitrary<LateStep> = fc.record({
  status: fc.constantFrom('past_due', 'past_due', 'active', 'unpaid'),
  hours: fc.integer({ min: 1, max: 200 }),
  /** After how many further changes the event arrives; null if it is lost. */
  delay: fc.constantFrom(0, 1, 3, null),
  isAnswered: fc.boolean(),
  /** Whether a failure is a further one of the newest invoice. */
  isSameInvoice: fc.boolean(),
});

type Reports = {
  /** Whether the events of failures arrive late too; otherwise they arrive at once, or are lost. */
  failuresAreLate?: boolean;
  /** Whether the provider answers after each recovery. */
  answersRecoveries?: boolean;
  /** Whether it answers after each change, and once more after the late events that arrive then. */
  answersAlways?: boolean;
};

/**
 * Lets the subscription live through the steps. Returns the start of its grace, its last known recovery and the
 * provider's first answer about its failure, if it ends past due.
 */
async function live(steps: LateStep[], { failuresAreLate = false, answersRecoveries, answersAlways }: Reports) {
  const { event, answer, wait, row, invoiceIs } = await reportedSubscription(billing);
  const events: { arrives: number; deliver: () => Promise<void> }[] = [];
  let recovered = 0;
  let answered: number | null = null;
  let invoice = 'in_0';
  for (const [place, { status, hours, delay, isAnswered, isSameInvoice }] of steps.entries()) {
    const now = wait(hours);
    const isLast = place === steps.length - 1;
    const last = steps[place - 1]?.status;
    const previous = last === status || last === undefined ? null : { status: last };
    if (status !== 'past_due') answered = null;
    else if (last !== 'past_due' && !isSameInvoice) invoice = `in_${place}`;

    const named = invoice;
    const deliver = async () => {
      invoiceIs(named);
      await event(status, now, previous);
      if (status !== 'past_due') recovered = Math.max(recovered, now);
    };
    const answerNow = async () => {
      invoiceIs(named);
      await answer(status);
      if (status === 'past_due') answered ??= now;
      else recovered = now;
    };
    if (answersAlways) await answerNow();
    const isLate = status !== 'past_due' || failuresAreLate;
    if (delay !== null) events.push({ arrives: isLate ? place + delay : place, deliver });
    for (const each of events) {
      if (each.arrives === place || (isLast && each.arrives > place)) await each.deliver();
    }
    const isRecovery = status !== 'past_due' && last === 'past_due';
    if (isAnswered || isLast || answersAlways || (answersRecoveries && isRecovery)) await answerNow();
  }
  return {
    since: (await row())?.pastDueSince?.getTime() ?? null,
    recovered: recovered * 1000,
    answered: answered === null ? null : answered * 1000,
  };
}

const lateSteps = fc.array(lateStep, { minLength: 2, maxLength: 10 });
const _withNewInvoices = lateSteps.map((steps) => steps.map((step) => ({ ...step, isSameInvoice: false })));

async function expectNoEarlierStart(steps: LateStep[], reports: Reports) {
  const lived = await live(steps, reports);
  if (lived.answered === null) expect(lived.since).toBeNull();
  else expect(lived.since).toBeGreaterThanOrEqual(lived.recovered);
  return lived;
}

test('the grace never begins before the last recovery that an event or an answer shows, however late the event is', async () => {
  await fc.assert(
    fc.asyncProperty(lateSteps, async (steps) => void (await expectNoEarlierStart(steps, {}))),
    { numRuns: 100 },
  );
});

test('the grace never begins before the last recovery, however late all events are, unless that of a recovery is lost', async () => {
  const kept = lateSteps.map((steps) =>
    steps.map((step) => (step.status === 'past_due' ? step : { ...step, delay: step.delay ?? 5 })),
  );
  await fc.assert(
    fc.asyncProperty(kept, async (steps) => void (await expectNoEarlierStart(steps, { failuresAreLate: true }))),
    { numRuns: 100 },
  );
});
