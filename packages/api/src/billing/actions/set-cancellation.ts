import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Administrator } from '../../auth/principal.ts';
import { requireSameOrganisationIfNamed } from '../../auth/sessions/require-same-organisation.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { dateOfSecond } from '../../platform/durations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Ask } from '../../platform/providers/payment/connection.ts';
import { isEnded, type SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { leaseOf } from '../customers/customer.ts';
import { withLease } from '../customers/lease.ts';
import { rankedFor } from '../entitlement/decide-plan.ts';
import type { PaidTier } from '../plans/plans.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';
import { readRows } from '../subscription/subscription-rows.ts';
import { syncOrganisation } from '../sync/sync.ts';
import { type BillingApp, takeBillingAction } from './require-payment.ts';
import { endIsAsWanted, setEnd } from './schedule-end.ts';

/** The subscription record in the answers of cancel and resume. */
export type SubscriptionRecord = {
  tier: PaidTier | null;
  status: string;
  /** True whenever an end is scheduled, in either of the provider's forms. */
  cancel_at_period_end: boolean;
  current_period_end: string | null;
  ends_at: string | null;
};

/**
 * Schedules the end of the paid plan at the end of its paid period, or removes the scheduled
 * end, and returns the subscription record. Repeating it changes nothing. All live
 * subscriptions of all the organisation's customers are changed, entitled ones first; one
 * failure does not stop the others.
 *
 * @throws AppError NOT_FOUND if the page was another organisation's; NO_ORGANISATION; TOO_MANY;
 *   VALIDATION if there is no paid plan, or it has ended; BUSY; PROVIDER_UNAVAILABLE, which names what remains if a
 *   part was carried out.
 */
export async function setCancellation(
  app: BillingApp,
  principal: Administrator,
  input: { cancel: boolean; organisation_id?: unknown },
): Promise<SubscriptionRecord> {
  const { cancel } = input;
  const organisationId = requireSameOrganisationIfNamed(principal, input.organisation_id).id;
  await takeBillingAction(app, principal, organisationId);

  const states = await withLease(
    app,
    leaseOf(organisationId),
    async (ask) => {
      const { states: synced, unknown, failures } = await syncOrganisation(app, ask, { organisationId });
      const live = synced.filter((state) => !isEnded(state));
      if (live.length === 0) {
        if (failures.length > 0) throw failures[0];
        if (unknown.length > 0) throw unknownPlan();
        const hasEnded = await endedBefore(app, organisationId);
        throw hasEnded && !cancel ? new AppError('VALIDATION', message('plan_ended')) : noPlan();
      }

      const order = await rankedRows(app, organisationId);
      const { changed, failed } = await changeAll(app, ask, organisationId, inOrder(live, order), cancel);
      if (changed.length > 0) {
        const action = cancel ? 'plan-cancelled' : 'plan-resumed';
        const tier = order.find((row) => row.tier !== null && changed.some(({ id }) => id === row.id))?.tier;
        const plan = app.plans.tiers.find((each) => each.tier === tier)?.name;
        const details: Record<string, string> = plan === undefined ? {} : { plan };
        await recordAudit(app.db, app.now(), { action, actorId: principal.user.id, organisationId, details });
      }
      const now = live.map((state) => changed.find(({ id }) => id === state.id) ?? state);
      const answered = await latestAnswers(app, ask, organisationId, now);
      requireEveryPlanChanged(app, order, { live, failed, unknown, listFailures: failures, cancel });
      return answered;
    },
    'action',
  );

  // One that had ended before may be of a higher tier, and is not what was changed.
  const order = await rankedRows(app, organisationId);
  const best = order.find((row) => !row.ended || states.some(({ id }) => id === row.id));
  if (best === undefined) throw noPlan();
  return recordOf(app, withAnswer(best, states));
}

/** Returns an organisation's subscriptions, the one that decides the plan first. */
async function rankedRows(app: App, organisationId: string): Promise<SubscriptionRow[]> {
  return rankedFor(app, await readRows(app.db, { organisationId }), app.now()).map(({ row }) => row);
}

function recordOf(app: App, row: SubscriptionRow): SubscriptionRecord {
  const { tier, status, cancelAtPeriodEnd, currentPeriodEnd, endsAt } = row;
  return {
    tier: app.plans.tiers.find((each) => each.tier === tier)?.tier ?? null,
    status: status ?? 'none',
    cancel_at_period_end: cancelAtPeriodEnd,
    current_period_end: currentPeriodEnd?.toISOString() ?? null,
    ends_at: endsAt?.toISOString() ?? null,
  };
}

function inOrder(live: SubscriptionState[], order: SubscriptionRow[]): SubscriptionState[] {
  const position = ({ id }: SubscriptionState) => {
    const at = order.findIndex((row) => row.id === id);
    return at === -1 ? order.length : at;
  };
  return live.toSorted((one, other) => position(one) - position(other));
}

type Failure = { id: string; error: unknown };

async function changeAll(app: App, ask: Ask, organisationId: string, live: SubscriptionState[], cancel: boolean) {
  const changed: SubscriptionState[] = [];
  const failed: Failure[] = [];
  for (const state of live) {
    if (await endIsAsWanted(app, state, cancel)) continue;
    try {
      changed.push(await setEnd(app, ask, organisationId, state, cancel));
    } catch (error) {
      failed.push({ id: state.id, error });
    }
  }
  return { changed, failed };
}

type Result = {
  live: SubscriptionState[];
  failed: Failure[];
  /** Those that the provider does not know. */
  unknown: string[];
  /** The failures because of which the provider did not list everything. */
  listFailures: unknown[];
  cancel: boolean;
};

/** A single plan that failed throws its own failure; with several the error names those that remain. */
function requireEveryPlanChanged(
  app: App,
  order: SubscriptionRow[],
  { live, failed, unknown, listFailures, cancel }: Result,
): void {
  // For subscriptions that the provider did not list, the row decides.
  const remaining = order.filter((row) => {
    if (failed.some((each) => each.id === row.id)) return true;
    const isHidden = unknown.includes(row.id) || (listFailures.length > 0 && !live.some(({ id }) => id === row.id));
    return isHidden && !row.ended && row.cancelAtPeriodEnd !== cancel;
  });
  const [first] = [...failed.map(({ error }) => error), ...listFailures];
  if (failed.length > 0 && live.length === 1 && remaining.length <= 1) throw first;
  if (remaining.length === 0) {
    if (first === undefined) return;
    const text = message('plans_not_shown', { change: cancel ? 'cancelled' : 'resumed' });
    throw new AppError('PROVIDER_UNAVAILABLE', text, { cause: first });
  }

  const names = [...new Set(remaining.map(({ tier }) => nameOfTier(app, tier)))];
  const text = message(cancel ? 'plans_not_cancelled' : 'plans_not_resumed', {
    count: names.length,
    plans: { all: names },
    others: failed.length < live.length ? 'done' : 'none',
    advice: first === undefined ? 'operator' : 'wait',
  });
  throw new AppError('PROVIDER_UNAVAILABLE', text, { cause: first });
}

/** A tier that the plans no longer hold has no name: the first one's stands for it. */
function nameOfTier({ plans }: App, tier: string | null): string {
  return (plans.tiers.find((each) => each.tier === tier) ?? plans.tiers[0]).name;
}

function noPlan(): AppError {
  return new AppError('VALIDATION', message('no_paid_plan'));
}

/** Only the provider's answer ends a live row, and only a subscription that the provider knows can be changed. */
function unknownPlan(): AppError {
  return new AppError('PROVIDER_UNAVAILABLE', message('provider_lacks_plan'));
}

async function endedBefore(app: App, organisationId: string): Promise<boolean> {
  const ended = and(
    eq(paymentSubscriptions.organisationId, organisationId),
    eq(paymentSubscriptions.status, 'canceled'),
  );
  const [row] = await app.db.select({ id: paymentSubscriptions.id }).from(paymentSubscriptions).where(ended).limit(1);
  return row !== undefined;
}

/**
 * Returns the newest states of the live subscriptions. An event that arrived during the
 * request outranks the provider's answer, though it may show an older state: then the
 * provider is asked again. If that fails, the change stays done and the row keeps needing a
 * sync.
 */
async function latestAnswers(
  app: App,
  ask: Ask,
  organisationId: string,
  answered: SubscriptionState[],
): Promise<SubscriptionState[]> {
  let latest = answered;
  try {
    for (let attempt = 0; attempt < 2 && !(await areStored(app, latest)); attempt++) {
      const { states, failures } = await syncOrganisation(app, ask, { organisationId });
      if (failures.length > 0) throw failures[0];
      latest = states.filter(({ id }) => answered.some((each) => each.id === id));
    }
  } catch (error) {
    app.log.warn('A change of plan was carried out, and its row could not be brought up to date.', {
      organisationId,
      error,
    });
  }
  return latest;
}

async function areStored(app: App, states: SubscriptionState[]): Promise<boolean> {
  const ids = states.map(({ id }) => id);
  const rows = await app.db.select().from(paymentSubscriptions).where(inArray(paymentSubscriptions.id, ids));
  return states.every((state) => {
    const row = rows.find(({ id }) => id === state.id);
    return row?.status === state.status && row.cancelAtPeriodEnd === (state.scheduled && !isEnded(state));
  });
}

/** Overlays the provider's answer: the row may be older if the answer could not be stored. */
function withAnswer(row: SubscriptionRow, states: SubscriptionState[]): SubscriptionRow {
  const state = states.find(({ id }) => id === row.id);
  if (state === undefined) return row;

  const ended = isEnded(state);
  return {
    ...row,
    status: state.status,
    cancelAtPeriodEnd: state.scheduled && !ended,
    currentPeriodEnd: ended ? null : dateOfSecond(state.currentPeriodEnd),
    endsAt: ended ? null : dateOfSecond(state.endsAt),
  };
}
