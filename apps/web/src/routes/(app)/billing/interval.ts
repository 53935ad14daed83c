import type { Plan, Price, Summary, Tier } from '#lib/subscription.ts';

export type Interval = Price['interval'];

/** The intervals for which the tiers are sold, in the order of the plans; none where there is no choice. */
export function intervalsOf(tiers: Tier[]): Interval[] {
  const several = tiers.find(({ prices }) => (prices?.length ?? 0) > 1);
  return several?.prices?.map(({ interval }) => interval) ?? [];
}

/** The interval that the page shows: the one of its address, else that of the subscription, else the first. */
export function shownInterval(tiers: Tier[], plan: Plan, wanted: string | null): Interval | null {
  const intervals = intervalsOf(tiers);
  return (
    intervals.find((each) => each === wanted) ??
    intervals.find((each) => each === plan.price?.interval) ??
    intervals[0] ??
    null
  );
}

/** A tier with the price of an interval; as it is where it has one price alone. */
export function inInterval(tier: Tier, interval: Interval | null): Tier {
  const found = tier.prices?.find((each) => each.interval === interval);
  if (found === undefined) return tier;
  const { price_source, ...price } = found;
  return { ...tier, price, price_source };
}

/** Whether the provider sells a tier as `inInterval` shows it: one of its prices alone may be archived. */
export function isAvailable({ tier, price }: Tier, unavailable: Summary['unavailable_prices']): boolean {
  return !unavailable.some((each) => each.tier === tier && each.interval === price?.interval);
}

/** Whether a tier in an interval (null where there is no choice) is the plan itself. Its other interval is a plan to change to. */
export function isCurrentPlan(tier: Tier, plan: Plan, interval: Interval | null): boolean {
  const isSame = tier.price === null || interval === null || (plan.price?.interval ?? interval) === interval;
  return tier.tier === plan.tier && isSame;
}

/** What paying for a year saves against twelve months; null where it saves nothing or the prices cannot be compared. */
export function savingOf({ prices = [] }: Tier): { amount: number; currency: string; percent: number } | null {
  const month = prices.find(({ interval }) => interval === 'month');
  const year = prices.find(({ interval }) => interval === 'year');
  if (month === undefined || year === undefined || month.currency !== year.currency) return null;
  const amount = 12 * month.amount - year.amount;
  return amount > 0
    ? { amount, currency: year.currency, percent: Math.floor((100 * amount) / (12 * month.amount)) }
    : null;
}
