import { formatDate } from '#lib/format/dates.ts';
import { formatMoney } from '#lib/format/money.ts';
import { changedNames } from '#lib/format/plans/plan-text.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';
import type { Plan, Summary, Tier } from '#lib/subscription.ts';
import type { Interval } from './interval.ts';

export type ChangeEstimate = NonNullable<RouterOutputs['billing']['estimate']>;

/** The query of /billing that asks before a change of plan; without the tier, that of the page behind it. */
export function changeQuery(tier: string | null, interval: Interval | null): string {
  const asked: Record<string, string> = tier === null ? {} : { ask: 'change', tier };
  return String(new URLSearchParams(interval === null ? asked : { ...asked, interval }));
}

/** "You pay about £38.20 now, then £55 a month from 22 December 2026." */
export function chargeText(
  { waits, due, price, from }: ChangeEstimate,
  { plan, tax }: Pick<Summary, 'plan' | 'tax'>,
  next: Tier,
): string {
  const t = texts('billing');
  const day = formatDate(from);
  const later = taxedText(t.perInterval({ amount: formatMoney(price), interval: price.interval }), tax);
  if (waits) {
    const names = changedNames(plan, { name: next.name, interval: price.interval });
    return t.chargedLater({ ...(names ?? { plan: plan.name, next: next.name }), day, price: later });
  }
  if (due.amount === 0) return t.chargedNothing({ plan: next.name, day, price: later });
  const now = tax === 'exclusive' || tax === 'inclusive' ? t.withVat({ price: formatMoney(due) }) : formatMoney(due);
  return t.chargedNow({ amount: now, day, price: later });
}

/** A price as the page says that prices are taxed. What is charged now is with tax in any case. */
function taxedText(price: string, tax: Summary['tax']): string {
  const t = texts('billing');
  if (tax === 'exclusive') return t.plusVat({ price });
  return tax === 'inclusive' ? t.withVat({ price }) : price;
}

/** What is to be known beside the charge. */
export function chargeNotes(estimate: ChangeEstimate | null, plan: Plan): string[] {
  const t = texts('billing');
  if (estimate === null) return [t.chargeUnknown];
  const days = estimate.due.amount > 0 ? plan.days_until_due : null;
  const isDiscounted = plan.discounts.some(
    ({ once, ends_at }) => once || ends_at === null || Date.parse(ends_at) > Date.parse(estimate.from),
  );
  return [
    ...(isDiscounted ? [t.beforeDiscount] : []),
    ...(days === null ? [] : [texts('plan').byInvoice({ days })]),
    estimate.due.amount > 0 ? t.estimateOnly : t.confirmThere,
  ];
}
