import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';
import { AppError } from '../../errors.ts';
import type { Ask } from '../../providers/payment.ts';
import { organisationOf, type Principal } from '../../sessions/principal.ts';
import { leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { ofOurMode } from '../customers/mode.ts';
import { rankedSubscriptions, readPlan, type SubscriptionFacts } from '../entitlement/read-plan.ts';
import { recordOf, type SubscriptionRecord } from '../entitlement/subscription-record.ts';
import { planOf } from '../plans/plans.ts';
import { toDate } from '../projection/fields.ts';
import { isEnded, type SubscriptionState } from '../projection/subscription-state.ts';
import { syncOrganisation } from '../sync/sync.ts';
import { requirePayment } from './require-payment.ts';
import { endIsAsWanted, setEnd } from './schedule-end.ts';

/**
 * Schedules the end of the paid plan at the end of its paid period, or takes that back,
 * and answers with the local record. What is so already stays so. Several live
 * subscriptions are all treated alike, whichever customer of the organisation's they are:
 * entitled ones first, and a failure of one does not keep the others from it.
 *
 * @throws AppError VALIDATION where there is no paid plan; PROVIDER_UNAVAILABLE, which says
 *   what remains where a part was carried out.
 */
export async function setCancellation(app: App, principal: Principal, wanted: boolean): Promise<SubscriptionRecord> {
  principal.require('ADMIN');
  requirePayment(app);
  const organisationId = organisationOf(principal).id;

  const told = await withLease(app, leaseOf(organisationId), async (ask, holder) => {
    const whose = { organisationId, holder };
    const { states, unknown, failures } = await syncOrganisation(app, ask, whose);
    const live = states.filter((state) => !isEnded(state));
    if (live.length === 0) {
      if (failures.length > 0) throw failures[0];
      if (unknown.length > 0) throw unknownPlan();
      const hasEnded = await endedBefore(app, organisationId);
      throw hasEnded && !wanted ? new AppError('VALIDATION', 'The paid plan has already ended.') : noPlan();
    }

    const order = await rankedSubscriptions(app, organisationId);
    const { changed, failed } = await changeAll(app, ask, whose, inOrder(live, order), wanted);
    if (changed.length > 0) {
      const action = wanted ? 'plan-cancelled' : 'plan-resumed';
      await recordAudit(app.db, app.now(), { action, actorId: principal.user.id, organisationId });
    }
    const now = live.map((state) => changed.find(({ id }) => id === state.id) ?? state);
    const answered = await lastWord(app, ask, whose, now);
    requireAll(app, order, { live, failed, unknown, unseen: failures, wanted });
    return answered;
  });

  const { subscription } = await readPlan(app, organisationId);
  return recordOf(subscription && asTold(subscription, told));
}

function inOrder(live: SubscriptionState[], order: SubscriptionFacts[]): SubscriptionState[] {
  const place = ({ id }: SubscriptionState) => {
    const at = order.findIndex((facts) => facts.id === id);
    return at === -1 ? order.length : at;
  };
  return live.toSorted((one, other) => place(one) - place(other));
}

type Failure = { id: string; error: unknown };

async function changeAll(app: App, ask: Ask, whose: Whose, live: SubscriptionState[], wanted: boolean) {
  const changed: SubscriptionState[] = [];
  const failed: Failure[] = [];
  for (const state of live.filter((each) => !endIsAsWanted(each, wanted))) {
    try {
      changed.push(await setEnd(app, ask, whose, state, wanted));
    } catch (error) {
      failed.push({ id: state.id, error });
    }
  }
  return { changed, failed };
}

type Outcome = {
  live: SubscriptionState[];
  failed: Failure[];
  /** Those that the provider does not know. */
  unknown: string[];
  /** Why the provider did not show all that there is. */
  unseen: unknown[];
  wanted: boolean;
};

/** One plan that failed answers with its own failure; of several the answer names what remains. */
function requireAll(app: App, order: SubscriptionFacts[], { live, failed, unknown, unseen, wanted }: Outcome): void {
  // Of those that the provider did not show, the row is all there is.
  const remaining = order.filter((facts) => {
    if (failed.some((each) => each.id === facts.id)) return true;
    const isHidden = unknown.includes(facts.id) || (unseen.length > 0 && !live.some(({ id }) => id === facts.id));
    return isHidden && !isEnded(facts) && facts.cancelAtPeriodEnd !== wanted;
  });
  const [first] = [...failed.map(({ error }) => error), ...unseen];
  if (failed.length > 0 && live.length === 1 && remaining.length <= 1) throw first;
  if (remaining.length === 0) {
    if (first === undefined) return;
    const done = `What it showed was ${wanted ? 'cancelled' : 'resumed'}. Try again in a moment.`;
    const sentence = `The payment provider did not show every plan of this organisation. ${done}`;
    throw new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: first });
  }

  const names = [...new Set(remaining.map(({ tier }) => planOf(app.plans, tier ?? 'free').name))];
  const plans = names.length === 1 ? `The ${names[0]} plan` : `The ${names.join(' and ')} plans`;
  const rest = failed.length < live.length ? ' Everything else was.' : '';
  const advice = first === undefined ? 'Ask the operator of this service.' : 'Try again in a moment.';
  throw new AppError(
    'PROVIDER_UNAVAILABLE',
    `${plans} could not be ${wanted ? 'cancelled' : 'resumed'}.${rest} ${advice}`,
    { cause: first },
  );
}

function noPlan(): AppError {
  return new AppError('VALIDATION', 'There is no paid plan.');
}

/** What runs here ends by the provider's own word alone, and can be changed only where the provider knows it. */
function unknownPlan(): AppError {
  return new AppError(
    'PROVIDER_UNAVAILABLE',
    'The payment provider does not know this plan. Ask whoever runs this service.',
  );
}

async function endedBefore(app: App, organisationId: string): Promise<boolean> {
  const ended = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.status, 'canceled'),
    ofOurMode(app, paymentSubscriptions.livemode),
  );
  const [row] = await app.db.select({ id: paymentSubscriptions.id }).from(paymentSubscriptions).where(ended).limit(1);
  return row !== undefined;
}

type Whose = { organisationId: string; holder: string };

/**
 * What the provider said last of the live subscriptions. An event that came in while it
 * was asked outranks its answer, though it may tell of the time before: then the provider
 * is asked anew. Where that fails, what it carried out stays done, and the row stays in
 * need of a sync.
 */
async function lastWord(app: App, ask: Ask, whose: Whose, answered: SubscriptionState[]): Promise<SubscriptionState[]> {
  let told = answered;
  try {
    for (let attempt = 0; attempt < 2 && !(await areStored(app, told)); attempt++) {
      const { states, failures } = await syncOrganisation(app, ask, whose);
      if (failures.length > 0) throw failures[0];
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
