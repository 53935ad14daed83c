import { formatDate } from '#lib/format/dates.ts';
import { formatInterval, formatMoney } from '#lib/format/money.ts';
import type { Tone } from '#lib/format/tone.ts';
import { planTexts } from '#lib/messages/app/plan.ts';
import type { Plan, Tier } from '#lib/subscription.ts';

const finalStatuses = ['none', 'canceled', 'incomplete_expired'];

/** Whether there is a subscription that could still be paid, changed or cancelled. */
export function hasSubscription(plan: Plan): boolean {
  return !plan.ended_unconfirmed_at && !finalStatuses.includes(plan.status);
}

/** The badge for the subscription's status; null without a subscription. */
export function statusText(plan: Plan): { tone: Tone; text: string } | null {
  const { status } = planTexts();
  if (plan.ended_unconfirmed_at) return { tone: 'warn', text: status.ended };
  if (hasSubscription(plan) && plan.cancel_at_period_end) return { tone: 'warn', text: status.ending };

  switch (plan.status) {
    case 'active':
      return { tone: 'good', text: status.active };
    case 'trialing':
      return { tone: 'good', text: status.trialing };
    case 'past_due':
      return { tone: 'warn', text: status.past_due };
    case 'incomplete':
      return { tone: 'warn', text: status.incomplete };
    case 'unpaid':
      return { tone: 'bad', text: status.unpaid };
    case 'paused':
      return { tone: 'warn', text: status.paused };
    default:
      return hasSubscription(plan) ? { tone: 'warn', text: status.onHold } : null;
  }
}

/** Whether an invoice has to be paid before a plan can be changed; the checkout leads there. */
export function isPaymentDue(plan: Plan): boolean {
  return hasSubscription(plan) && ['past_due', 'unpaid', 'incomplete'].includes(plan.status);
}

/** "£24 a month. Renews on 3 December 2026." */
export function planSentence(plan: Plan, tiers: Tier[]): string {
  const t = planTexts();
  if (plan.ended_unconfirmed_at) return t.ended(formatDate(plan.ended_unconfirmed_at));
  if (plan.status === 'canceled') return t.hasEnded;
  if (hasSubscription(plan) && plan.tier === 'free' && !plan.cancel_at_period_end) return whyFree(plan);

  const price = tiers.find((tier) => tier.tier === plan.tier)?.price;
  const cost = price ? t.price(formatMoney(price), formatInterval(price.interval)) : t.free;
  return `${cost} ${nextDate(plan, tiers)}`.trim();
}

/** Why the plan is the free one although there is a subscription. */
function whyFree({ status }: Plan): string {
  const t = planTexts();
  switch (status) {
    case 'past_due':
    case 'unpaid':
      return t.offUntilPaid;
    case 'incomplete':
      return t.startsWhenPaid;
    case 'paused':
      return t.isPaused;
    default:
      return t.unreadable;
  }
}

function nextDate(plan: Plan, [free]: Tier[]): string {
  const t = planTexts();
  if (!hasSubscription(plan)) return '';
  if (plan.cancel_at_period_end) {
    const end = plan.ends_at ?? plan.current_period_end;
    const next = free?.name ?? 'Free';
    return end ? t.endsOn(formatDate(end), next) : t.endsWithPeriod(next);
  }
  if (!plan.current_period_end) return '';
  if (plan.status === 'active') return t.renewsOn(formatDate(plan.current_period_end));
  if (plan.status === 'trialing') return t.trialEndsOn(formatDate(plan.current_period_end));
  return '';
}
