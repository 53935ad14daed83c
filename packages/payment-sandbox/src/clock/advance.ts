import { stepsOfDebit } from '../checkout/debit-result.ts';
import { expireSession } from '../checkout/pay-checkout.ts';
import { announce, change } from '../events/announce.ts';
import { draftInvoice } from '../invoices/draft-invoice.ts';
import { payNow } from '../invoices/pay-invoice.ts';
import { stepsOfDueDate } from '../invoices/send-invoice.ts';
import { voidInvoice } from '../invoices/settle-invoice.ts';
import { addInterval, daySeconds, hourSeconds } from '../provider/clock.ts';
import type { Provider } from '../provider/provider.ts';
import type { Invoice, Subscription } from '../provider/records.ts';
import type { Step } from '../provider/step.ts';
import { stepsOfRefund } from '../refunds/refund.ts';
import { periodEnd } from '../subscriptions/end-subscription.ts';
import { stepsOfPausedCollection } from '../subscriptions/pause/pause-collection.ts';
import { endAsScheduled } from '../subscriptions/scheduled-end.ts';
import { stepsOfSchedule } from '../subscriptions/schedules/schedule-steps.ts';
import { endTrial } from '../subscriptions/trial.ts';

const firstPaymentHours = 23;
const maxSteps = 20_000;

/**
 * Runs all steps that are due by `until`, in the order of their times, for the customers of one
 * test clock or, with null, for those without one. During a step the provider's time is the time
 * at which the step is due. Returns the number of steps.
 *
 * @throws Error after 20,000 steps.
 */
export function runUntil(provider: Provider, until: number, testClock: string | null): number {
  for (let count = 0; count < maxSteps; count += 1) {
    const step = nextStep(provider, testClock);
    if (!step || step.at > until) return count;
    provider.replayedTime = step.at;
    try {
      step.run();
    } finally {
      provider.replayedTime = null;
    }
  }
  throw new Error(`More than ${maxSteps} steps are due in that time.`);
}

/** Returns the next step that will be due, or null. */
export function nextStep(provider: Provider, testClock: string | null): Step | null {
  let first: Step | null = null;
  for (const step of steps(provider, testClock)) if (!first || step.at < first.at) first = step;
  return first;
}

function* steps(provider: Provider, testClock: string | null): Generator<Step> {
  const { state } = provider;
  // Schedules come first, so that a renewal at the same time bills the new phase.
  for (const schedule of Object.values(state.subscription_schedules)) {
    if (schedule.test_clock === testClock) yield* stepsOfSchedule(provider, schedule);
  }
  for (const subscription of Object.values(state.subscriptions)) {
    if (subscription.test_clock === testClock) yield* stepsOfSubscription(provider, subscription);
  }
  for (const invoice of Object.values(state.invoices)) {
    if (invoice.test_clock !== testClock) continue;
    yield* stepsOfDueDate(provider, invoice);
    if (invoice.auto_advance) yield* stepsOfInvoice(provider, invoice);
  }
  for (const refund of Object.values(state.refunds)) {
    const clock = state.customers[state.charges[refund.charge]?.customer ?? '']?.test_clock ?? null;
    if (clock === testClock) yield* stepsOfRefund(provider, refund);
  }
  for (const debit of Object.values(state.debits)) {
    if (state.invoices[debit.invoice]?.test_clock === testClock) yield* stepsOfDebit(provider, debit);
  }
  for (const session of Object.values(state.checkout_sessions)) {
    const clock = state.customers[session.customer ?? '']?.test_clock ?? null;
    if (session.status !== 'open' || clock !== testClock) continue;
    yield { at: session.expires_at, about: 'a checkout expires', run: () => expireSession(provider, session) };
  }
}

function* stepsOfSubscription(provider: Provider, subscription: Subscription): Generator<Step> {
  const { status, cancel_at: cancelAt, trial_end: trialEnd } = subscription;
  if (status === 'canceled' || status === 'incomplete_expired') return;
  yield* stepsOfPausedCollection(provider, subscription);
  if (cancelAt !== null) {
    const run = () => endAsScheduled(provider, subscription, cancelAt);
    yield { at: cancelAt, about: 'a scheduled cancellation takes effect', run };
  }
  if (status === 'incomplete') {
    const at = subscription.created + firstPaymentHours * hourSeconds;
    yield {
      at,
      about: 'a subscription that was never paid expires',
      run: () => expireIncomplete(provider, subscription),
    };
  } else if (status === 'trialing' && trialEnd !== null) {
    if (!provider.state.announced_trials[subscription.id]) {
      const at = Math.max(subscription.created, trialEnd - 3 * daySeconds);
      yield { at, about: 'a trial is about to end', run: () => announceTrialEnd(provider, subscription) };
    }
    yield { at: trialEnd, about: 'a trial ends', run: () => endTrial(provider, subscription) };
  } else if (status === 'paused') {
    yield* stepsOfResumption(provider, subscription);
  } else if (status === 'active' || status === 'past_due' || status === 'unpaid') {
    yield { at: periodEnd(subscription), about: 'a subscription renews', run: () => renew(provider, subscription) };
  }
}

function* stepsOfResumption(provider: Provider, subscription: Subscription): Generator<Step> {
  const resumption = provider.state.resumptions[subscription.id];
  const invoice = provider.state.invoices[resumption?.invoice ?? ''];
  if (!resumption || invoice?.status !== 'open' || invoice.attempted) return;
  const run = () => voidInvoice(provider, invoice);
  yield {
    at: resumption.at + firstPaymentHours * hourSeconds,
    about: 'a resumption without a payment attempt expires',
    run,
  };
}

function* stepsOfInvoice(provider: Provider, invoice: Invoice): Generator<Step> {
  const run = () => void payNow(provider, invoice.id, false);
  if (invoice.status === 'draft' && invoice.automatically_finalizes_at !== null) {
    yield { at: invoice.automatically_finalizes_at, about: 'an invoice is finalised and charged', run };
  }
  if (invoice.status === 'open' && invoice.next_payment_attempt !== null) {
    yield {
      at: invoice.next_payment_attempt,
      about: `an unpaid invoice is charged again (attempt ${invoice.attempt_count + 1})`,
      run,
    };
  }
}

function renew(provider: Provider, subscription: Subscription): void {
  let draft: Invoice | undefined;
  change(provider, 'customer.subscription.updated', subscription, () => {
    for (const item of subscription.items.data) {
      const { interval = 'month', interval_count: count = 1 } = item.price.recurring ?? {};
      const end = item.current_period_end;
      item.current_period_start = end;
      item.current_period_end = addInterval(end, interval, count, subscription.billing_cycle_anchor);
    }
    draft = draftInvoice(provider, subscription, 'subscription_cycle');
    // The invoices of an unpaid subscription stay drafts until they are finalised by hand.
    if (subscription.status === 'unpaid')
      Object.assign(draft, { auto_advance: false, automatically_finalizes_at: null });
    subscription.latest_invoice = draft.id;
  });
  if (draft) announce(provider, 'invoice.created', draft);
}

function announceTrialEnd(provider: Provider, subscription: Subscription): void {
  provider.state.announced_trials[subscription.id] = true;
  announce(provider, 'customer.subscription.trial_will_end', subscription);
}

function expireIncomplete(provider: Provider, subscription: Subscription): void {
  const invoice = provider.state.invoices[subscription.latest_invoice ?? ''];
  if (invoice?.status === 'open') voidInvoice(provider, invoice);
  change(provider, 'customer.subscription.updated', subscription, () => {
    subscription.status = 'incomplete_expired';
    subscription.ended_at = provider.replayedTime;
  });
}
