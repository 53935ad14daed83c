import { formatDate } from '#lib/format/dates.ts';
import { formatNumber } from '#lib/format/numbers.ts';
import { hasSubscription } from '#lib/format/plans/plan-text.ts';
import { overviewTexts } from '#lib/messages/app/overview.ts';
import type { Plan } from '#lib/subscription.ts';

/** "Silver, renews on 3 December 2026. Four members." */
export function homeSentence(plan: Plan, members: number): string {
  const t = overviewTexts();
  return `${planText(plan)} ${members === 1 ? t.justYou : t.members(countText(members))}`;
}

function planText(plan: Plan): string {
  const t = overviewTexts();
  if (hasSubscription(plan)) {
    const end = plan.ends_at ?? plan.current_period_end;
    if (plan.cancel_at_period_end) return end ? t.until(plan.name, formatDate(end)) : t.untilPeriodEnds(plan.name);
    if (plan.change) return t.until(plan.name, formatDate(plan.change.at));
    if (plan.status === 'active' && plan.current_period_end && !plan.collection_paused) {
      return t.renews(plan.name, formatDate(plan.current_period_end));
    }
  }
  return t.plan(plan.name);
}

/** A number at the start of a sentence: a word up to ten, digits above. */
export function countText(count: number): string {
  return overviewTexts().count(count, formatNumber(count));
}
