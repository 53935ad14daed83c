import type { App } from '../app.ts';
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
  const { ask, customerId, tier } = talk;
  const { state, tier: currentTier } = await bestOf(app, talk, live);

  if (['past_due', 'unpaid', 'incomplete'].includes(state.status)) {
    return (await openInvoice(ask, state.id)) ?? newCard(app, talk);
  }
  if (state.status === 'paused') return newCard(app, talk);

  if (currentTier === tier) {
    const { name } = planOf(app.plans, tier);
    throw new Refusal(
      'VALIDATION',
      state.scheduled
        ? `The ${name} plan is set to end. Resume it to keep it.`
        : `This organisation is already on the ${name} plan.`,
    );
  }

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

/** The live subscription that speaks for the organisation, as the provider just showed it. */
async function bestOf(app: App, { organisationId }: Conversation, live: SubscriptionState[]) {
  const { subscription } = await readPlan(app, organisationId);
  const known = live.find(({ id }) => id === subscription?.id);
  if (known !== undefined) return { state: known, tier: subscription?.tier ?? null };

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
  return found;
}

/** The hosted page of what is to be paid: a new card alone pays nothing. */
async function openInvoice(ask: Ask, subscriptionId: string): Promise<string | null> {
  const { data } = await ask((provider) =>
    provider.invoices.list({ subscription: subscriptionId, status: 'open', limit: 10 }),
  );
  return data.find((invoice) => invoice.hosted_invoice_url)?.hosted_invoice_url ?? null;
}

function newCard(app: App, { ask, customerId }: Conversation): Promise<string> {
  return portalSession(app, ask, customerId, { type: 'payment_method_update' });
}
