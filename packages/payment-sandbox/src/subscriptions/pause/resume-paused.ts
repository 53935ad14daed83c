import type Stripe from 'stripe';
import { announce, change } from '../../events/announce.ts';
import { addPendingLine, draftInvoice, finalizeInvoice } from '../../invoices/draft-invoice.ts';
import { newLine } from '../../invoices/new-invoice.ts';
import { payNow } from '../../invoices/pay-invoice.ts';
import { settle } from '../../invoices/settle-invoice.ts';
import type { Renewed } from '../../provider/bookkeeping.ts';
import { addInterval, timeOfCustomer } from '../../provider/clock.ts';
import type { Provider } from '../../provider/provider.ts';
import type { Invoice, InvoiceLine, Subscription, SubscriptionItem } from '../../provider/records.ts';
import { refused } from '../../routing/api-error.ts';
import { firstPeriodEnd } from '../new-subscription.ts';
import { endPause } from './end-pause.ts';
import { remainderLine } from './pause.ts';

/**
 * Performs POST /v1/subscriptions/:id/resume. If an amount is due, the
 * subscription stays paused until its resumption invoice has been paid, or with
 * `resume_on_payment_attempt` until a payment was attempted. A scheduled cancellation stays.
 *
 * @throws ApiError if the subscription is not paused, or an earlier resumption waits for its invoice.
 */
export function resumePaused(
  provider: Provider,
  subscription: Subscription,
  params: Stripe.SubscriptionResumeParams,
): Subscription {
  if (subscription.status !== 'paused') {
    throw refused(
      `You can only resume subscriptions that are paused. This subscription has a status of \`${subscription.status}\`.`,
    );
  }
  if (provider.state.resumptions[subscription.id]) {
    throw refused('This subscription is being resumed already. Pay or void its open invoice first.');
  }

  const at = timeOfCustomer(provider, subscription.customer);
  const unchanged = params.billing_cycle_anchor?.type === 'unchanged';
  const renewed = unchanged ? continued(subscription, at) : restarted(subscription, at);
  const { now, later } = charges(provider, subscription, renewed, { at, unchanged, params });
  for (const line of later) addPendingLine(provider, subscription, line);
  if (now.length === 0) {
    endPause(provider, subscription, renewed);
    return subscription;
  }

  const onAttempt = params.payment_behavior !== 'resume_on_payment_success';
  const invoice = billResumption(provider, subscription, now);
  provider.state.resumptions[subscription.id] = { at, invoice: invoice.id, onAttempt, renewed };
  if (!onAttempt) payNow(provider, invoice.id, false);
  else if (invoice.amount_due === 0) settle(provider, invoice);
  return subscription;
}

/** Returns the items with a new period that starts now. */
function restarted(subscription: Subscription, at: number): Renewed {
  const items = structuredClone(subscription.items.data);
  for (const item of items) {
    item.current_period_start = at;
    item.current_period_end = firstPeriodEnd(item.price, at);
  }
  return { items, billingCycleAnchor: at };
}

/** Returns the items with the current period of the unchanged anchor. */
function continued(subscription: Subscription, at: number): Renewed {
  const { billing_cycle_anchor: billingCycleAnchor } = subscription;
  const items = structuredClone(subscription.items.data);
  for (const item of items) {
    const { interval = 'month', interval_count: count = 1 } = item.price.recurring ?? {};
    while (item.current_period_end <= at) {
      item.current_period_start = item.current_period_end;
      item.current_period_end = addInterval(item.current_period_end, interval, count, billingCycleAnchor);
    }
  }
  return { items, billingCycleAnchor };
}

type Terms = { at: number; unchanged: boolean; params: Stripe.SubscriptionResumeParams };

/**
 * Returns the charges of a resumption. A new period is charged in full. Of a continued period the
 * remaining time is charged if the period began during the pause, or if the pause credited it.
 * A period that was paid and not credited is not charged again.
 */
function charges(
  provider: Provider,
  subscription: Subscription,
  { items }: Renewed,
  { at, unchanged, params }: Terms,
): { now: InvoiceLine[]; later: InvoiceLine[] } {
  if (!unchanged) return { now: items.map((item) => newLine(provider, subscription, item)), later: [] };
  if (params.proration_behavior === 'none') return { now: [], later: [] };

  const credited = provider.state.paused_credits[subscription.id] === true;
  const due = (begun: boolean) =>
    items
      .filter((item) => isNew(subscription, item) === begun && (begun || credited))
      .map((item) => remainderLine(provider, subscription, item, at, 1, 'Remaining time'));
  return params.proration_behavior === 'always_invoice'
    ? { now: [...due(true), ...due(false)], later: [] }
    : { now: due(true), later: due(false) };
}

/** Whether the item's period began while the subscription was paused. */
function isNew(subscription: Subscription, item: SubscriptionItem): boolean {
  const before = subscription.items.data.find(({ id }) => id === item.id);
  return before?.current_period_end !== item.current_period_end;
}

function billResumption(provider: Provider, subscription: Subscription, lines: InvoiceLine[]): Invoice {
  let draft: Invoice | undefined;
  change(provider, 'customer.subscription.updated', subscription, () => {
    draft = draftInvoice(provider, subscription, 'subscription_cycle', { lines });
    subscription.latest_invoice = draft.id;
  });
  announce(provider, 'invoice.created', draft as Invoice);
  finalizeInvoice(provider, draft as Invoice);
  return draft as Invoice;
}
