import { formatDate } from '#lib/format/dates.ts';
import { hasSubscription } from '#lib/format/plan-text.ts';
import type { Plan } from '#lib/subscription.ts';

/** "Silver, renews on 3 December 2026. Four members." */
export function homeSentence(plan: Plan, members: number): string {
  return `${planText(plan)}. ${members === 1 ? 'Just you so far' : `${countText(members)} members`}.`;
}

function planText(plan: Plan): string {
  if (hasSubscription(plan)) {
    const end = plan.ends_at ?? plan.current_period_end;
    if (plan.cancel_at_period_end) return `${plan.name} until ${end ? formatDate(end) : 'the end of the paid period'}`;
    if (plan.status === 'active' && plan.current_period_end) {
      return `${plan.name}, renews on ${formatDate(plan.current_period_end)}`;
    }
  }
  return `${plan.name} plan`;
}

const small = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

/** A number at the start of a sentence: a word up to ten, digits above. */
export function countText(count: number): string {
  return small[count] ?? count.toLocaleString('en-GB');
}
