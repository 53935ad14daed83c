import { formatDate } from '#lib/format/dates.ts';
import { formatInterval, formatMoney } from '#lib/format/money.ts';
import { formatNumber } from '#lib/format/numbers.ts';
import { changedNames, discountText, hasSubscription, isUnnamed, methodText } from '#lib/format/plans/plan-text.ts';
import { texts } from '#lib/language/texts.ts';
import type { Plan } from '#lib/subscription.ts';

/** "Silver, renews on 3 December 2026. Four members." */
export function homeSentence(plan: Plan, members: number): string {
  const t = texts('overview');
  return `${planText(plan)} ${members === 1 ? t.justYou : t.members({ count: countText(members) })}`;
}

function planText(plan: Plan): string {
  const t = texts('overview');
  // A subscription that does not give the plan has dates that are not those of the plan, nor has one that is not paid.
  if (hasSubscription(plan) && !isUnnamed(plan) && plan.status !== 'past_due') {
    const end = plan.ends_at ?? plan.current_period_end;
    if (plan.cancel_at_period_end)
      return end ? t.until({ plan: plan.name, day: formatDate(end) }) : t.untilPeriodEnds({ plan: plan.name });
    if (plan.change) return changeText(plan, plan.change);
    if (plan.current_period_end && !plan.collection_paused) {
      const day = formatDate(plan.current_period_end);
      if (plan.status === 'active') return t.renews({ plan: plan.name, day });
      if (plan.status === 'trialing') return trialText(plan, day);
    }
  }
  return t.plan({ plan: plan.name });
}

/** When a trial ends, and what is charged then. Members who do not see the card read only when. */
function trialText({ name: plan, price, payment_method, discounts }: Plan, day: string): string {
  const t = texts('overview');
  if (!price || !payment_method) return t.freeUntil({ plan, day });
  const charged = { amount: formatMoney(price), interval: formatInterval(price.interval) };
  const sentence = t.freeThenPaid({ plan, day, ...charged, method: methodText(payment_method) });
  return [sentence, ...discounts.map(discountText)].join(' ');
}

function changeText(plan: Plan, change: NonNullable<Plan['change']>): string {
  const t = texts('overview');
  const day = formatDate(change.at);
  const names = changedNames(plan, change);
  return names ? t.untilThen({ ...names, day }) : t.until({ plan: plan.name, day });
}

/** A number at the start of a sentence: a word up to ten, digits above. */
export function countText(count: number): string {
  return texts('overview').count({ count, digits: formatNumber(count) });
}
