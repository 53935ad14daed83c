import { texts } from '#lib/language/texts.ts';
import { type NoticeText, named, onDay } from '#lib/notices/notice.ts';
import type { RouterOutputs } from '#lib/router.ts';

type SubscriptionRecord = RouterOutputs['billing']['cancel'];
type Plans = { tiers: { tier: string; name: string }[] };

/** Statuses in which the subscription gives its tier until it ends, whatever happens. */
const entitledStatuses = ['active', 'trialing'];

/** "Silver is cancelled. You have it until 22 December 2026." */
export function cancelledText(
  { tier, status, ends_at, current_period_end }: SubscriptionRecord,
  plans: Plans,
): NoticeText {
  const end = ends_at ?? current_period_end;
  const t = texts('planNotice');
  const cancelled = t.cancelled({ plan: named(nameOf(tier, plans)) });
  return end && entitledStatuses.includes(status) ? [...cancelled, ...t.haveUntil({ end: onDay(end) })] : cancelled;
}

/** "Gold stays. The planned change is off. It renews on 22 December 2026." */
export function keptText(
  { tier, status, current_period_end, hadChange = false }: SubscriptionRecord & { hadChange?: boolean },
  plans: Plans,
): NoticeText {
  const t = texts('planNotice');
  const stays = (hadChange ? t.changeIsOff : t.stays)({ plan: named(nameOf(tier, plans)) });
  const renews = current_period_end && status === 'active';
  return renews ? [...stays, ...t.renews({ end: onDay(current_period_end) })] : stays;
}

function nameOf(tier: string | null, { tiers }: Plans): string {
  return tiers.find((each) => each.tier === tier)?.name ?? texts('planNotice').paidPlan;
}
