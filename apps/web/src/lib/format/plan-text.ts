import { formatDate } from '#lib/format/dates.ts';
import { formatInterval, formatMoney } from '#lib/format/money.ts';
import type { Tone } from '#lib/format/tone.ts';
import type { Plan, Tier } from '#lib/subscription.ts';

const finalStatuses = ['none', 'canceled', 'incomplete_expired'];

/** Whether there is a subscription that could still be paid, changed or cancelled. */
export function hasSubscription(plan: Plan): boolean {
  return !plan.ended_unconfirmed_at && !finalStatuses.includes(plan.status);
}

/** The badge for the subscription's status; null without a subscription. */
export function statusText(plan: Plan): { tone: Tone; text: string } | null {
  if (plan.ended_unconfirmed_at) return { tone: 'warn', text: 'Ended' };
  if (hasSubscription(plan) && plan.cancel_at_period_end) return { tone: 'warn', text: 'Ending' };

  switch (plan.status) {
    case 'active':
      return { tone: 'good', text: 'Active' };
    case 'trialing':
      return { tone: 'good', text: 'On trial' };
    case 'past_due':
      return { tone: 'warn', text: 'Payment due' };
    case 'incomplete':
      return { tone: 'warn', text: 'Awaiting first payment' };
    case 'unpaid':
      return { tone: 'bad', text: 'Unpaid' };
    case 'paused':
      return { tone: 'warn', text: 'Paused' };
    default:
      return hasSubscription(plan) ? { tone: 'warn', text: 'On hold' } : null;
  }
}

/** Whether an invoice has to be paid before a plan can be changed; the checkout leads there. */
export function isPaymentDue(plan: Plan): boolean {
  return hasSubscription(plan) && ['past_due', 'unpaid', 'incomplete'].includes(plan.status);
}

/** "£24 a month. Renews on 3 December 2026." */
export function planSentence(plan: Plan, tiers: Tier[]): string {
  if (plan.ended_unconfirmed_at) {
    return `Your paid plan ended on ${formatDate(plan.ended_unconfirmed_at)}. The payment provider hasn’t confirmed it yet.`;
  }
  if (plan.status === 'canceled') return 'Free of charge. Your paid plan has ended.';
  if (hasSubscription(plan) && plan.tier === 'free' && !plan.cancel_at_period_end) return whyFree(plan);

  const price = tiers.find((tier) => tier.tier === plan.tier)?.price;
  const cost = price ? `${formatMoney(price)} ${formatInterval(price.interval)}.` : 'Free of charge.';
  return `${cost} ${nextDate(plan, tiers)}`.trim();
}

/** Why a subscription does not entitle to its tier. */
function whyFree({ status }: Plan): string {
  switch (status) {
    case 'past_due':
    case 'unpaid':
      return 'Your paid plan is off until its invoice is paid.';
    case 'incomplete':
      return 'Your paid plan starts once its first payment arrives.';
    case 'paused':
      return 'Your paid plan is paused. Choose a plan to start it again.';
    default:
      return 'This service cannot read your subscription, so you have the free plan. Ask its operator.';
  }
}

function nextDate(plan: Plan, [free]: Tier[]): string {
  if (!hasSubscription(plan)) return '';
  if (plan.cancel_at_period_end) {
    const end = plan.ends_at ?? plan.current_period_end;
    const next = free?.name ?? 'Free';
    return end ? `Ends on ${formatDate(end)}, then ${next}.` : `Ends with the paid period, then ${next}.`;
  }
  if (!plan.current_period_end) return '';
  if (plan.status === 'active') return `Renews on ${formatDate(plan.current_period_end)}.`;
  if (plan.status === 'trialing') return `The trial ends on ${formatDate(plan.current_period_end)}.`;
  return '';
}
