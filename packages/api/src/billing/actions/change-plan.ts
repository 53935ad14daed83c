import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions } from '../../db/schema/billing.ts';
import { AppError } from '../../errors.ts';
import { billingPage } from '../../links.ts';
import { best } from '../entitlement/entitlement.ts';
import { readPlan } from '../entitlement/read-plan.ts';
import { planOf } from '../plans/plans.ts';
import { toDate } from '../projection/fields.ts';
import type { SubscriptionState } from '../projection/subscription-state.ts';
import { type Conversation, priceOf } from './checkout-session.ts';
import { portalSession } from './open-portal.ts';
import { payableInvoice } from './payable-invoice.ts';
import { newCard, resumePaused } from './resume-paused.ts';

/**
 * Where a checkout leads while there is a live subscription: to the page that pays what is
 * due, or to the change of the plan in place. One subscription, one bill. A paused
 * subscription is resumed first; where that was all, the address is the billing page.
 *
 * @throws AppError VALIDATION where the organisation is on the tier already, or the tier has no price.
 */
export async function changePlan(app: App, conversation: Conversation, live: SubscriptionState[]): Promise<string> {
  await requireOtherTier(app, conversation, live);

  const state = await bestOf(app, conversation, live);
  if (unpaidStatuses.includes(state.status))
    return (await payableInvoice(conversation.ask, state)) ?? newCard(app, conversation.ask, state.customerId);
  if (state.status !== 'paused') return confirmChange(app, conversation, state);

  const paused = await resumePaused(app, conversation, state);
  if ('url' in paused) return paused.url;
  const [same] = await ofTier(app, conversation, [paused.resumed]);
  return same === undefined ? confirmChange(app, conversation, paused.resumed) : billingPage(app.config);
}

/** The portal's page that changes the subscription to the wanted tier, once the user confirms it. */
async function confirmChange(app: App, conversation: Conversation, state: SubscriptionState): Promise<string> {
  const { ask } = conversation;
  // The portal opens for the customer that the subscription belongs to, which may be an earlier one.
  const { customerId } = state;
  const price = await priceOf(app, conversation);
  const item = state.items[0];
  if (item?.id == null) return portalSession(app, ask, customerId);
  return portalSession(app, ask, customerId, {
    type: 'subscription_update_confirm',
    subscription_update_confirm: {
      subscription: state.id,
      items: [{ id: item.id, price: price.id, quantity: item.quantity }],
    },
  });
}

const unpaidStatuses = ['past_due', 'unpaid', 'incomplete'];

/** None of several may be of the tier already: the change of another one would make two of them. */
async function requireOtherTier(app: App, conversation: Conversation, live: SubscriptionState[]): Promise<void> {
  const running = live.filter(({ status }) => !unpaidStatuses.includes(status) && status !== 'paused');
  const same = await ofTier(app, conversation, running);
  if (same.length === 0) return;

  const { name } = planOf(app.plans, conversation.tier);
  throw new AppError(
    'VALIDATION',
    same.every(({ scheduled }) => scheduled)
      ? `The ${name} plan is set to end. Resume it to keep it.`
      : `This organisation is already on the ${name} plan.`,
  );
}

/** Those that pay for the wanted tier, as the rows of just now say. */
async function ofTier(app: App, { tier }: Conversation, states: SubscriptionState[]): Promise<SubscriptionState[]> {
  const ids = states.map(({ id }) => id);
  const rows = await app.db
    .select({ id: paymentSubscriptions.id })
    .from(paymentSubscriptions)
    .where(and(inArray(paymentSubscriptions.id, ids), eq(paymentSubscriptions.tier, tier)));
  return states.filter((state) => rows.some(({ id }) => id === state.id));
}

/** The live subscription that speaks for the organisation, as the provider just showed it. */
async function bestOf(
  app: App,
  { organisationId }: Conversation,
  live: SubscriptionState[],
): Promise<SubscriptionState> {
  const { subscription } = await readPlan(app, organisationId);
  const known = live.find(({ id }) => id === subscription?.id);
  if (known !== undefined) return known;

  const facts = live.map((state) => ({
    state,
    tier: null,
    status: state.status,
    endsAt: toDate(state.endsAt),
    pastDueSince: null,
    startedAt: toDate(state.createdAt),
  }));
  const found = best(facts, app.config.pastDueGraceDays, app.now());
  if (found === null) throw new Error('There is no live subscription to change.');
  return found.state;
}
