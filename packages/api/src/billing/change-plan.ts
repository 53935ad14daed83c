import { and, eq, inArray } from 'drizzle-orm';
import type { App } from '../app.ts';
import { paymentSubscriptions } from '../db/schema.ts';
import { Refusal } from '../errors.ts';
import type { Ask } from '../providers/payment.ts';
import { type Conversation, priceOf } from './checkout-session.ts';
import { best } from './entitlement.ts';
import { toDate } from './fields.ts';
import { portalSession } from './open-portal.ts';
import { planOf } from './plans.ts';
import { readPlan } from './read-plan.ts';
import type { SubscriptionState } from './subscription-state.ts';

/**
 * Where a checkout leads that a live subscription stands in the way of: to the page that
 * pays what is due, or to the change of the plan in place. One subscription, one bill.
 *
 * @throws Refusal VALIDATION where the organisation is on the tier already, or the tier has no price.
 */
export async function changePlan(app: App, talk: Conversation, live: SubscriptionState[]): Promise<string> {
  const { ask } = talk;
  await requireOtherTier(app, talk, live);

  const state = await bestOf(app, talk, live);
  // The portal opens for the customer whose subscription it is, who may be one of before.
  const { customerId } = state;
  if (unpaidStatuses.includes(state.status)) return (await openInvoice(ask, state.id)) ?? newCard(app, ask, customerId);
  if (state.status === 'paused') return newCard(app, ask, customerId);

  const price = await priceOf(app, talk);
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
async function requireOtherTier(app: App, { tier }: Conversation, live: SubscriptionState[]): Promise<void> {
  const running = live.filter(({ status }) => !unpaidStatuses.includes(status) && status !== 'paused');
  const ids = running.map(({ id }) => id);
  const rows = await app.db
    .select({ id: paymentSubscriptions.id })
    .from(paymentSubscriptions)
    .where(and(inArray(paymentSubscriptions.id, ids), eq(paymentSubscriptions.tier, tier)));
  const same = running.filter((state) => rows.some(({ id }) => id === state.id));
  if (same.length === 0) return;

  const { name } = planOf(app.plans, tier);
  throw new Refusal(
    'VALIDATION',
    same.every(({ scheduled }) => scheduled)
      ? `The ${name} plan is set to end. Resume it to keep it.`
      : `This organisation is already on the ${name} plan.`,
  );
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

/** The hosted page of what is to be paid: a new card alone pays nothing. */
async function openInvoice(ask: Ask, subscriptionId: string): Promise<string | null> {
  const { data } = await ask((provider) =>
    provider.invoices.list({ subscription: subscriptionId, status: 'open', limit: 10 }),
  );
  return data.find((invoice) => invoice.hosted_invoice_url)?.hosted_invoice_url ?? null;
}

function newCard(app: App, ask: Ask, customerId: string): Promise<string> {
  return portalSession(app, ask, customerId, { type: 'payment_method_update' });
}
