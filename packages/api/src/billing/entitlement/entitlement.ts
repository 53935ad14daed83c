import { type PaidTier, type Plans, rankOf } from '../plans/plans.ts';
import { statusClassOf } from '../projection/subscription-state.ts';

/** The properties of a subscription that decide its entitlement and its rank. */
export type RankedFacts = {
  tier: PaidTier | null;
  status: string;
  endsAt: Date | null;
  pastDueSince: Date | null;
  startedAt: Date | null;
};

/**
 * Whether a subscription gives its tier's limits and features now. A status that is not known
 * here gives nothing, and a subscription gives nothing from its scheduled end on.
 */
export function isEntitled(facts: Omit<RankedFacts, 'startedAt'>, graceDays: number, now: Date): boolean {
  if (facts.tier === null) return false;
  if (facts.endsAt !== null && facts.endsAt <= now) return false;
  if (facts.status === 'active' || facts.status === 'trialing') return true;

  const ends = graceEnd(facts, graceDays);
  return ends !== null && now < ends;
}

const dayMilliseconds = 86_400_000;

/** The end of a past-due subscription's grace period; null if it is not past due. */
export function graceEnd(
  { status, pastDueSince }: Pick<RankedFacts, 'status' | 'pastDueSince'>,
  graceDays: number,
): Date | null {
  if (status !== 'past_due' || pastDueSince === null) return null;
  return new Date(pastDueSince.getTime() + graceDays * dayMilliseconds);
}

/** From the best status to the worst; statuses that are not known here follow, and ended ones come last. */
const statusOrder = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete'];

/**
 * Returns the subscription that determines its organisation's plan: an entitled one before others, then
 * the best status, then the higher tier, then the newest. So the late end of an old subscription
 * cannot remove the plan of a new one. Null if there is none.
 */
export function best<Some extends RankedFacts>(plans: Plans, all: Some[], graceDays: number, now: Date): Some | null {
  return ranked(plans, all, graceDays, now)[0]?.facts ?? null;
}

/** Returns all subscriptions in the order of `best`, and whether each is entitled. */
export function ranked<Some extends RankedFacts>(
  plans: Plans,
  all: Some[],
  graceDays: number,
  now: Date,
): { facts: Some; entitled: boolean }[] {
  const ranks = all.map((facts) => {
    const entitled = isEntitled(facts, graceDays, now);
    return { facts, entitled, rank: rankOfFacts(plans, facts, entitled) };
  });
  return ranks.sort((one, other) => compare(one.rank, other.rank));
}

function rankOfFacts(plans: Plans, { tier, status, startedAt }: RankedFacts, entitled: boolean): number[] {
  return [entitled ? 0 : 1, statusRank(status), -rankOf(plans, tier), -(startedAt?.getTime() ?? 0)];
}

function statusRank(status: string): number {
  const index = status === 'trialing' ? 0 : statusOrder.indexOf(status);
  if (index !== -1) return index;
  return statusClassOf(status) === 'ended' ? statusOrder.length + 1 : statusOrder.length;
}

function compare(one: number[], other: number[]): number {
  for (const [at, value] of one.entries()) {
    const difference = value - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
