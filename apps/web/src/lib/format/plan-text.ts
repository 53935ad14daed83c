import { formatDate } from '#lib/format/dates.ts';
import { formatInterval, formatMoney } from '#lib/format/money.ts';
import type { Tone } from '#lib/format/tone.ts';
import type { Plan, Tier } from '#lib/subscription.ts';

const finalStatuses = ['none', 'canceled', 'incomplete_expired', 'lapsed'];

/** The plan after its scheduled end, which the provider has yet to confirm: a status that only pages know. */
export function lapsed(plan: Plan, endedAt: string): Plan {
  return { ...plan, status: 'lapsed', cancel_at_period_end: false, ends_at: endedAt };
}

/** Whether there is a subscription that could still be paid, changed or cancelled. */
export function hasSubscription(plan: Plan): boolean {
  return !finalStatuses.includes(plan.status);
}

/** The badge for the subscription's status; null without a subscription. */
export function statusText(plan: Plan): { tone: Tone; text: string } | null {
  if (hasSubscription(plan) && plan.cancel_at_period_end) return { tone: 'warn', text: 'Ending' };

  switch (plan.status) {
    case 'active':
      return { tone: 'good', text: 'Active' };
    case 'trialing':
      return { tone: 'good', text: 'On trial' };
    case 'past_due':
      return { tone: 'warn', text: 'Payment due' };
    case 'incomplete':
      return { tone: 'warn', text: 'First payment open' };
    case 'unpaid':
      return { tone: 'bad', text: 'Not paid' };
    case 'paused':
      return { tone: 'warn', text: 'Paused' };
    case 'lapsed':
      return { tone: 'warn', text: 'Ended' };
    default:
      return hasSubscription(plan) ? { tone: 'warn', text: 'On hold' } : null;
  }
}

/** Whether an invoice has to be paid before a plan can be changed; the checkout leads there. */
export function isPaymentDue(plan: Plan): boolean {
  return ['past_due', 'unpaid', 'incomplete'].includes(plan.status);
}

/** "£24 a month. Renews on 3 December 2026." */
export function planSentence(plan: Plan, tiers: Tier[]): string {
  if (plan.status === 'lapsed' && plan.ends_at) {
    return `The paid plan ended on ${formatDate(plan.ends_at)}. The payment provider has yet to confirm it.`;
  }
  if (plan.status === 'canceled') return 'The paid plan has ended. Nothing to pay.';
  if (hasSubscription(plan) && plan.tier === 'free' && !plan.cancel_at_period_end) return whyFree(plan);

  const price = tiers.find((tier) => tier.tier === plan.tier)?.price;
  const cost = price ? `${formatMoney(price)} ${formatInterval(price.interval)}.` : 'Nothing to pay.';
  return `${cost} ${nextDate(plan)}`.trim();
}

/** Why a subscription does not entitle to its tier. */
function whyFree({ status }: Plan): string {
  switch (status) {
    case 'past_due':
    case 'unpaid':
      return 'The paid plan is off until its invoice is paid.';
    case 'incomplete':
      return 'The paid plan begins once its first payment is through.';
    case 'paused':
      return 'The paid plan is paused. Choose a plan to start it again.';
    default:
      return 'There is a subscription that this service cannot read, so the free plan holds. Ask whoever runs it.';
  }
}

function nextDate(plan: Plan): string {
  if (!hasSubscription(plan)) return '';
  if (plan.cancel_at_period_end) {
    const end = plan.ends_at ?? plan.current_period_end;
    return end ? `Ends on ${formatDate(end)}, then Free.` : 'Ends with the paid period, then Free.';
  }
  if (!plan.current_period_end) return '';
  if (plan.status === 'active') return `Renews on ${formatDate(plan.current_period_end)}.`;
  if (plan.status === 'trialing') return `The trial ends on ${formatDate(plan.current_period_end)}.`;
  return '';
}
