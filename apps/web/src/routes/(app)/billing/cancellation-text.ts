import { formatDate } from '#lib/format/dates.ts';
import { type NoticeText, plain, say } from '#lib/notices/notice.ts';
import type { RouterOutputs } from '#lib/router.ts';

type Record = RouterOutputs['billing']['cancel'];
type Plans = { tiers: { tier: string; name: string }[] };

/** Statuses in which the subscription gives its tier until it ends. */
const running = ['active', 'trialing', 'past_due'];

/** "Silver is cancelled. You have it until 22 December 2026." */
export function cancelledText({ tier, status, ends_at, current_period_end }: Record, plans: Plans): NoticeText {
  const end = ends_at ?? current_period_end;
  const until = end && running.includes(status) ? ` You have it until ${formatDate(end)}.` : '';
  return say`${nameOf(tier, plans)} is cancelled.${plain(until)}`;
}

/** "Silver stays. It renews on 22 December 2026." */
export function keptText({ tier, status, current_period_end }: Record, plans: Plans): NoticeText {
  const renews = current_period_end && status === 'active' ? ` It renews on ${formatDate(current_period_end)}.` : '';
  return say`${nameOf(tier, plans)} stays.${plain(renews)}`;
}

function nameOf(tier: string | null, { tiers }: Plans): string {
  return tiers.find((each) => each.tier === tier)?.name ?? 'The paid plan';
}
