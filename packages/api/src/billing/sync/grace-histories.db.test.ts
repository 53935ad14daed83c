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

type LateStep = { status: string; hours: number; delay: number | null; isAnswered: boolean };

const lateStep: fc.Arbitrary<LateStep> = fc.record({
  status: fc.constantFrom('past_due', 'past_due', 'active', 'unpaid'),
  hours: fc.integer({ min: 1, max: 200 }),
  /** After how many further changes the event arrives; null if it is lost. */
  delay: fc.constantFrom(0, 1, 3, null),
  isAnswered: fc.boolean(),
});

/**
 * Lets the subscription live through the steps, and ends with an answer. With `failuresAreLate` the events of failures
 * arrive late too; otherwise they arrive at once, or are lost. Expects that the grace begins at the last recovery that
 * an event or an answer has shown, or after it.
 */
async function expectNoEarlierStart(steps: LateStep[], { failuresAreLate }: { failuresAreLate: boolean }) {
  const { event, answer, wait, row } = await reportedSubscription(billing);
  const events: { arrives: number; deliver: () => Promise<void> }[] = [];
  let recovered = 0;
  for (const [place, { status, hours, delay, isAnswered }] of steps.entries()) {
    const now = wait(hours);
    const isLast = place === steps.length - 1;
    const last = steps[place - 1]?.status;
    const isRecovery = status !== 'past_due';

    const deliver = async () => {
      await event(status, now, last === status || last === undefined ? null : { status: last });
      if (isRecovery) recovered = Math.max(recovered, now);
    };
    if (delay !== null) events.push({ arrives: isRecovery || failuresAreLate ? place + delay : place, deliver });
    for (const { arrives, deliver } of events) {
      if (arrives === place || (isLast && arrives > place)) await deliver();
    }
    if (isAnswered || isLast) {
      await answer(status);
      if (isRecovery) recovered = now;
    }
  }
  const since = (await row())?.pastDueSince ?? null;
  if (steps.at(-1)?.status === 'past_due') expect(since?.getTime()).toBeGreaterThanOrEqual(recovered * 1000);
  else expect(since).toBeNull();
}

const lateSteps = fc.array(lateStep, { minLength: 2, maxLength: 10 });

test('the grace never begins before the last recovery that an event or an answer shows, however late the event is', async () => {
  await fc.assert(
    fc.asyncProperty(lateSteps, (steps) => expectNoEarlierStart(steps, { failuresAreLate: false })),
    { numRuns: 100 },
  );
});

test('the grace never begins before the last recovery, however late all events are, unless that of a recovery is lost', async () => {
  const kept = lateSteps.map((steps) =>
    steps.map((step) => (step.status === 'past_due' ? step : { ...step, delay: step.delay ?? 5 })),
  );
  await fc.assert(
    fc.asyncProperty(kept, (steps) => expectNoEarlierStart(steps, { failuresAreLate: true })),
    { numRuns: 100 },
  );
});
