import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../app.ts';
import { record } from '../audit/record.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import type { Ask } from '../providers/payment.ts';
import { organisationOf, type Principal } from '../sessions/principal.ts';
import { leaseOf } from './customer.ts';
import { toDate } from './fields.ts';
import { withLease } from './lease.ts';
import { readPlan, type SubscriptionFacts } from './read-plan.ts';
import { recordOf, type SubscriptionRecord } from './record.ts';
import { requirePayment } from './require-payment.ts';
import { isEnded, readSubscriptionState, type SubscriptionState } from './subscription-state.ts';
import { syncOrganisation } from './sync.ts';
import { lastNumbers, takeSnapshot } from './take-snapshot.ts';

/**
 * Schedules the end of the paid plan at the end of its paid period, or takes that back,
 * and answers with the local record. What is so already stays so. Several live
 * subscriptions are all treated alike, whichever customer of the organisation's they are.
 */
export async function setCancellation(app: App, principal: Principal, wanted: boolean): Promise<SubscriptionRecord> {
  principal.require('ADMIN');
  requirePayment(app);
  const organisationId = organisationOf(principal).id;

  const told = await withLease(app, leaseOf(organisationId), async (ask, holder) => {
    const whose = { organisationId, holder };
    const { states, unknown } = await syncOrganisation(app, ask, whose);
    const live = states.filter((state) => !isEnded(state));
    if (live.length === 0) {
      if (unknown.length > 0) throw unknownPlan();
      const hasEnded = await endedBefore(app, organisationId);
      throw hasEnded && !wanted ? new Refusal('VALIDATION', 'The paid plan has already ended.') : noPlan();
    }

    const others = live.filter((state) => state.scheduled !== wanted);
    const answered: SubscriptionState[] = [];
    try {
      for (const state of others) answered.push(await change(app, ask, whose, state, wanted));
    } finally {
      if (answered.length > 0) {
        const action = wanted ? 'plan-cancelled' : 'plan-resumed';
        await record(app.db, app.now(), { action, actorId: principal.user.id, organisationId });
      }
    }
    return lastWord(app, ask, whose, answered);
  });

  const { subscription } = await readPlan(app, organisationId);
  return recordOf(subscription && asTold(subscription, told));
}

function noPlan(): Refusal {
  return new Refusal('VALIDATION', 'There is no paid plan.');
}

/** What runs here ends by the provider's own word alone, and can be changed only where the provider knows it. */
function unknownPlan(): Refusal {
  return new Refusal(
    'PROVIDER_UNAVAILABLE',
    'The payment provider does not know this plan. Ask whoever runs this service.',
  );
}

async function endedBefore(app: App, organisationId: string): Promise<boolean> {
  const ended = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.status, 'canceled'),
  );
  const [row] = await app.db.select({ id: paymentSubscriptions.id }).from(paymentSubscriptions).where(ended).limit(1);
  return row !== undefined;
}

type Whose = { organisationId: string; holder: string };

async function change(app: App, ask: Ask, whose: Whose, before: SubscriptionState, wanted: boolean) {
  let state = before;
  // Taking back one form of a scheduled end may leave the other one standing.
  for (let attempt = 0; attempt < 2 && state.scheduled !== wanted; attempt++) {
    const number = (await lastNumbers(app, whose.organisationId)).get(state.id) ?? 0;
    const change = changeTo(state, wanted);
    const answer = readSubscriptionState(await ask((provider) => provider.subscriptions.update(before.id, change)));
    if (answer === null) throw new Error(`The payment provider's answer about ${before.id} cannot be read.`);
    await takeSnapshot(app, { ...whose, customerId: state.customerId }, answer, number);
    state = answer;
  }
  return state;
}

/**
 * What the provider said last of what it has carried out. What came in while it was asked
 * outranks its answer, though it may tell of the time before: then it is asked anew. It is
 * done all the same where that fails, and the row stays in need of a sync.
 */
async function lastWord(app: App, ask: Ask, whose: Whose, answered: SubscriptionState[]): Promise<SubscriptionState[]> {
  let told = answered;
  try {
    for (let attempt = 0; attempt < 2 && !(await areStored(app, told)); attempt++) {
      const { states } = await syncOrganisation(app, ask, whose);
      told = states.filter(({ id }) => answered.some((each) => each.id === id));
    }
  } catch (error) {
    const { organisationId } = whose;
    app.log.warn('A change of plan was carried out, and its row could not be brought up to date.', {
      organisationId,
      error,
    });
  }
  return told;
}

async function areStored(app: App, states: SubscriptionState[]): Promise<boolean> {
  const ids = states.map(({ id }) => id);
  const rows = await app.db.select().from(paymentSubscriptions).where(inArray(paymentSubscriptions.id, ids));
  return states.every((state) => {
    const row = rows.find(({ id }) => id === state.id);
    return row?.status === state.status && row.cancelAtPeriodEnd === (state.scheduled && !isEnded(state));
  });
}

/** The row may still say something else, where what the provider told could not be stored. */
function asTold(subscription: SubscriptionFacts, told: SubscriptionState[]): SubscriptionFacts {
  const state = told.find(({ id }) => id === subscription.id);
  if (state === undefined) return subscription;

  const ended = isEnded(state);
  return {
    ...subscription,
    status: state.status,
    cancelAtPeriodEnd: state.scheduled && !ended,
    currentPeriodEnd: ended ? null : toDate(state.currentPeriodEnd),
    endsAt: ended ? null : toDate(state.endsAt),
  };
}

/** One of the two forms, never both: the provider refuses them together. */
function changeTo({ cancelFlag }: SubscriptionState, wanted: boolean) {
  if (wanted) return { cancel_at_period_end: true };
  return cancelFlag ? { cancel_at_period_end: false } : { cancel_at: '' as const };
}
