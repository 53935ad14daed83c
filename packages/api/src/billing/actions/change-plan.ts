import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { AppError } from '../../platform/errors.ts';
import { billingPage } from '../../platform/links.ts';
import { type Message, message } from '../../platform/messages.ts';
import { type Ask, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import type { InvoiceTrouble, SubscriptionState } from '../../platform/providers/payment/subscription-state.ts';
import { endNow, releaseSchedule } from '../../platform/providers/payment/subscriptions.ts';
import { rankedFor } from '../entitlement/decide-plan.ts';
import { heldBy } from '../entitlement/rank-subscriptions.ts';
import { isLostToDispute } from '../entitlement/standing-disputes.ts';
import { paidTiers, planOf } from '../plans/plans.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';
import { readRow, readRows } from '../subscription/subscription-rows.ts';
import { actAndStore } from '../sync/store-answer.ts';
import { type CheckoutContext, priceOf } from './checkouts.ts';
import { portalSession } from './open-portal.ts';
import { newCard, payableInvoice, resumePaused } from './reactivate.ts';
import { mayChange } from './schedule-end.ts';

/**
 * Returns the page for a checkout of an organisation that has a live subscription: the page
 * that pays what is due, or the portal's page that changes the plan in place, so that there
 * is never a second subscription. A paused subscription is resumed first; if nothing else is
 * left to do, it is the billing page. Null after a subscription was ended that nobody pays any more: then everything
 * has to be read again.
 *
 * @throws AppError VALIDATION if the organisation is on the tier already or its plan is set to end, or the tier has no
 *   price; PROVIDER_UNAVAILABLE; INTERNAL without a canonical base URL.
 */
export async function changePlan(
  app: App,
  context: CheckoutContext,
  live: SubscriptionState[],
): Promise<string | null> {
  const state = await bestOf(app, context, live);
  await requireChangeable(app, context, live, state);

  if (await isGivenUp(app, context, state)) {
    // An end cannot be undone: what is bought in its place must be on sale.
    await priceOf(app, context);
    await actAndStore(app, { ...context, customerId: state.customerId }, state.id, () => endNow(context.ask, state.id));
    return null;
  }
  if (unpaidStatuses.includes(state.status) || troubleOf(state) !== null)
    return (await payableInvoice(context.ask, state)) ?? newCard(app, context.ask, state.customerId);
  if (state.status !== 'paused') return confirmPlanChange(app, context, state);

  const [same] = await statesOfTier(app, context, [state]);
  // A resumption may charge: another plan must be on sale before.
  if (same === undefined) await priceOf(app, context);
  const resumption = await resumePaused(app, context, state);
  if ('url' in resumption) return resumption.url;
  return same === undefined ? confirmPlanChange(app, context, resumption.resumed) : billingPage(app.config);
}

/**
 * Whether a subscription is ended so that another is bought: an unpaid one where another tier is chosen, whose debt is
 * not to be paid for it, and one whose first payment bounced. Another interval is no other tier, and a subscription of
 * a tier that the plans lack counts as of the wanted one: an end cannot be undone.
 */
async function isGivenUp(app: App, { tier }: CheckoutContext, state: SubscriptionState): Promise<boolean> {
  if (troubleOf(state) === 'void') return true;
  if (state.status !== 'unpaid') return false;
  const own = (await readRow(app.db, state.id))?.tier;
  return own !== tier && paidTiers(app.plans).some((each) => each === own);
}

function troubleOf({ details }: SubscriptionState): InvoiceTrouble | null {
  return details?.invoiceTrouble ?? null;
}

/**
 * Returns the portal's page that changes the subscription to the wanted tier after the user confirms. The provider
 * has no such page for a subscription with several items: its portal opens instead. A schedule whose last change has
 * taken effect still manages the subscription for a period, in which the portal would refuse: it is released first.
 */
async function confirmPlanChange(app: App, context: CheckoutContext, state: SubscriptionState): Promise<string> {
  const { ask } = context;
  // The portal opens for the customer that the subscription belongs to, which may be an earlier one.
  const { customerId } = state;
  const price = await priceOf(app, context);
  const [item, ...others] = state.items;
  if (item?.id == null || others.length > 0) return portalSession(app, ask, customerId);
  if (state.scheduleId !== null && !mayChange(state)) await release(ask, state.scheduleId);
  return portalSession(app, ask, customerId, {
    page: 'change',
    subscriptionId: state.id,
    itemId: item.id,
    priceId: price.id,
    quantity: item.quantity,
  });
}

/** A key that may not release schedules is no error: the portal opens at its beginning. */
async function release(ask: Ask, scheduleId: string): Promise<void> {
  try {
    await releaseSchedule(ask, scheduleId, true);
  } catch (error) {
    if (providerErrorOf(error)?.status !== 403) throw error;
  }
}

const unpaidStatuses = ['past_due', 'unpaid', 'incomplete'];

/**
 * Refuses if any subscription is on the tier already, because changing another one would make two; if the plan is set to
 * end, because a change would be paid and still end on the old date; while a schedule is to change it, because the portal
 * refuses another change; and while a dispute takes the plan, because the
 * change would be paid and give nothing. After a lost one the payment that is due gives the plan back.
 */
async function requireChangeable(
  app: App,
  context: CheckoutContext,
  live: SubscriptionState[],
  best: SubscriptionState,
): Promise<void> {
  const row = await readRow(app.db, best.id);
  const isPaid = (state: SubscriptionState) =>
    !unpaidStatuses.includes(state.status) && state.status !== 'paused' && troubleOf(state) === null;
  if (row !== null && heldBy(app.config, row) === 'disputed') {
    const isLost = await isLostToDispute(app, best.id, best.details?.paidInvoiceAt ?? null);
    const plan = await nameOf(app, best);
    if (!isLost) throw refused(message('plan_disputed', { plan }));
    if (isPaid(best)) throw refused(message('plan_dispute_lost', { plan }));
  }
  const same = await statesOfTier(app, context, live.filter(isPaid));
  const { name } = planOf(app.plans, context.tier);
  if (same.some(({ scheduled }) => !scheduled)) throw refused(message('plan_current', { plan: name }));
  if (same.length > 0) throw refused(message('plan_ending_keep', { plan: name }));
  if (!isPaid(best)) return;
  if (best.scheduled) throw refused(message('plan_ending_change', { plan: await nameOf(app, best) }));
  // The row names the change. Where an event kept the answer out of it, a change that was given up still stands there.
  if (row?.nextTierAt != null && mayChange(best)) throw refused(changePending(app, row, row.nextTierAt));
}

/** The portal refuses to change a subscription while a schedule is to change it. */
function changePending({ plans }: App, row: SubscriptionRow, at: Date): Message {
  const { tier, nextTier, interval: from, nextInterval: to } = row;
  const named = (wanted: string | null) => plans.tiers.find((each) => each.tier === wanted)?.name;
  const plan = named(tier) ?? 'paid';
  const next = nextTier === tier ? undefined : named(nextTier);
  const day = { day: at.toISOString() };
  if (next !== undefined) return message('plan_changing_to', { plan, next, day });
  if (nextTier === tier && from !== null && to !== null && from !== to)
    return message('plan_changing_interval', { plan, from, to, day });
  return message('plan_changing', { plan, day });
}

function refused(text: Message): AppError {
  return new AppError('VALIDATION', text);
}

/** The name of the plan that a subscription pays for. A tier that the plans lack has none. */
async function nameOf(app: App, { id }: SubscriptionState): Promise<string> {
  const tier = (await readRow(app.db, id))?.tier;
  return app.plans.tiers.find((each) => each.tier === tier)?.name ?? 'paid';
}

/**
 * Returns the states whose rows have the wanted tier and, where the tier has several prices, the wanted interval. A
 * subscription whose interval is not known counts as of the wanted one.
 */
async function statesOfTier(
  app: App,
  { tier, interval }: CheckoutContext,
  states: SubscriptionState[],
): Promise<SubscriptionState[]> {
  const ids = states.map(({ id }) => id);
  const rows = await app.db
    .select({ id: paymentSubscriptions.id, interval: paymentSubscriptions.interval })
    .from(paymentSubscriptions)
    .where(and(inArray(paymentSubscriptions.id, ids), eq(paymentSubscriptions.tier, tier)));
  const { hasOnePrice } = planOf(app.plans, tier);
  const same = rows.filter((row) => hasOnePrice || (row.interval ?? interval) === interval);
  return states.filter((state) => same.some(({ id }) => id === state.id));
}

/**
 * Returns the live subscription that decides the organisation's plan, in the provider's newest state. One of which only the
 * id is stored, because an event arrived before its answer, comes last.
 */
async function bestOf(
  app: App,
  { organisationId }: CheckoutContext,
  live: SubscriptionState[],
): Promise<SubscriptionState> {
  const order = rankedFor(app, await readRows(app.db, { organisationId }), app.now());
  const best = order.find(({ row }) => live.some(({ id }) => id === row.id))?.row.id;
  const found = live.find(({ id }) => id === best) ?? live[0];
  if (found === undefined) throw new Error('There is no live subscription to change.');
  return found;
}
