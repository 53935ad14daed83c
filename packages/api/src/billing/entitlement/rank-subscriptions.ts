import type { Config } from '../../platform/config.ts';
import { dayMilliseconds } from '../../platform/durations.ts';
import { isEnded } from '../../platform/providers/payment/subscription-state.ts';
import type { Plans, Tier } from '../plans/plans.ts';
import type { SubscriptionRow } from '../subscription/newer-state.ts';

/** The columns of a subscription that decide its entitlement and its rank. */
export type RankedColumns = Pick<
  SubscriptionRow,
  'id' | 'tier' | 'status' | 'endsAt' | 'pastDueSince' | 'startedAt' | 'invoiceTrouble' | 'disputed'
>;

/** The settings that decide whether a subscription gives its plan. */
export type EntitlementRules = Pick<Config, 'pastDueGraceDays' | 'disputes'>;

/**
 * Whether a subscription gives its tier's limits and features now. A status that is not known
 * here gives nothing, and a subscription gives nothing from its scheduled end on.
 */
export function isEntitled(
  row: Omit<RankedColumns, 'id' | 'startedAt'>,
  { pastDueGraceDays, disputes }: EntitlementRules,
  now: Date,
): boolean {
  if (row.tier === null) return false;
  if (row.endsAt !== null && row.endsAt <= now) return false;
  // The status alone is no proof of payment.
  if (heldBy({ disputes }, row) !== null) return false;
  if (row.status === 'active' || row.status === 'trialing') return true;

  const ends = graceEnd(row, pastDueGraceDays);
  return ends !== null && now < ends;
}

/** Why a subscription gives no plan although its status would; null if it does, or if the status says why. */
export function heldBy(
  { disputes }: Pick<EntitlementRules, 'disputes'>,
  row: Pick<RankedColumns, 'invoiceTrouble' | 'disputed'>,
): 'uncollectible' | 'void' | 'disputed' | null {
  return row.invoiceTrouble ?? (row.disputed && disputes === 'end' ? 'disputed' : null);
}

/** The end of a past-due subscription's grace period; null if it is not past due. */
export function graceEnd(
  { status, pastDueSince }: Pick<RankedColumns, 'status' | 'pastDueSince'>,
  graceDays: number,
): Date | null {
  if (status !== 'past_due' || pastDueSince === null) return null;
  return new Date(pastDueSince.getTime() + graceDays * dayMilliseconds);
}

/** From the best status to the worst; statuses that are not known here follow, and ended ones come last. */
const statusOrder = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete'];

/**
 * Returns an organisation's subscriptions in the order in which they decide its plan, and whether each is entitled: an
 * entitled one before others, then the best status, then the higher tier, then the newest. So the late end of an old
 * subscription cannot remove the plan of a new one. Among equals the id decides, so that every reader gets the same
 * order. A tier that the plans no longer hold gives nothing. Rows of which only the id is known are left out.
 */
export function ranked<Row extends RankedColumns>(
  plans: Plans,
  rows: Row[],
  rules: EntitlementRules,
  now: Date,
): { row: Row; entitled: boolean }[] {
  const ranks = rows.flatMap((row) => {
    if (row.status === null) return [];
    const tier = plans.tiers.find((each) => each.tier === row.tier)?.tier ?? null;
    const entitled = isEntitled({ ...row, tier }, rules, now);
    const rank = [entitled ? 0 : 1, statusRank(row.status), -rankOf(plans, tier), -(row.startedAt?.getTime() ?? 0)];
    return [{ row, entitled, rank }];
  });
  return ranks.sort((one, other) => compare(one.rank, other.rank) || (one.row.id < other.row.id ? 1 : -1));
}

/** Returns the tier's position in the plans; -1 for a tier that the plans do not hold. A higher rank is the better tier. */
export function rankOf(plans: Plans, tier: Tier | null): number {
  return plans.tiers.findIndex((each) => each.tier === tier);
}

function statusRank(status: string): number {
  const index = status === 'trialing' ? 0 : statusOrder.indexOf(status);
  if (index !== -1) return index;
  return isEnded({ status }) ? statusOrder.length + 1 : statusOrder.length;
}

function compare(one: number[], other: number[]): number {
  for (const [at, value] of one.entries()) {
    const difference = value - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
