import { formatDate } from '#lib/format/dates.ts';
import { hasSubscription } from '#lib/format/plan-text.ts';
import type { Plan } from '#lib/subscription.ts';

/** "On Silver, renewing on 3 December 2026. Four members." */
export function homeSentence(plan: Plan, members: number): string {
  return `On ${plan.name}${nextDate(plan)}. ${members === 1 ? 'One member: you' : `${countText(members)} members`}.`;
}

function nextDate(plan: Plan): string {
  if (!hasSubscription(plan)) return '';
  const end = plan.ends_at ?? plan.current_period_end;
  if (plan.cancel_at_period_end) return end ? `, until ${formatDate(end)}` : ', until the end of the paid period';
  return plan.status === 'active' && plan.current_period_end
    ? `, renewing on ${formatDate(plan.current_period_end)}`
    : '';
}

const small = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

/** A number at the start of a sentence: a word up to ten, digits above. */
export function countText(count: number): string {
  return small[count] ?? count.toLocaleString('en-GB');
}
