import type { Tier, Usage } from '#lib/subscription.ts';

export interface Line {
  key: string;
  included: boolean;
  text: string;
  /** Whether the other tier, where one is given, has something else here. */
  changed: boolean;
  /** What a changed limit replaces: "instead of 10". */
  instead: string;
}

/** A counter has a time of reset, a gauge has none. */
type Meters = Pick<Usage, 'meter' | 'name' | 'resets_at'>[];

/** What a tier includes, one line for each meter and feature, meters first; `other` is the tier it is compared with. */
export function tierLines(tier: Tier, meters: Meters, other: Tier = tier): Line[] {
  const limits = Object.entries(tier.limits).map(([meter, limit]) => {
    const before = other.limits[meter];
    return {
      key: meter,
      included: limit !== 0,
      text: limitText(meter, limit, meters),
      changed: before !== undefined && before !== limit,
      instead: before === undefined || before === limit ? '' : insteadOf(before),
    };
  });
  const features = Object.entries(tier.features).map(([feature, on]) => ({
    key: feature,
    included: on,
    text: on ? featureName(feature) : `No ${lowerFirst(featureName(feature))}`,
    changed: on !== (other.features[feature] ?? false),
    instead: '',
  }));
  return [...limits, ...features];
}

/** What the change from one tier to another takes away: "2 members instead of 10", "No single sign-on". */
export function lossesText(from: Tier, to: Tier, meters: Meters): string[] {
  const limits = Object.entries(to.limits).flatMap(([meter, limit]) => {
    const before = from.limits[meter];
    if (limit === null || before === undefined || (before !== null && before <= limit)) return [];
    return [`${limitText(meter, limit, meters)} ${insteadOf(before)}`];
  });
  const features = Object.entries(from.features)
    .filter(([feature, on]) => on && !to.features[feature])
    .map(([feature]) => `No ${lowerFirst(featureName(feature))}`);
  return [...limits, ...features];
}

/** "10 members", "50,000 API calls a month", "Unlimited members", "No projects". */
function limitText(meter: string, limit: number | null, meters: Meters): string {
  const { name, resets_at } = meters.find((each) => each.meter === meter) ?? { name: spaced(meter), resets_at: null };
  const noun = lowerFirst(limit === 1 ? singular(name) : name);
  if (limit === null) return `Unlimited ${noun}`;
  if (limit === 0) return `No ${noun}`;
  // Every counter resets with the calendar month (docs/decisions/010).
  return `${limit.toLocaleString('en-GB')} ${noun}${resets_at ? ' a month' : ''}`;
}

function insteadOf(limit: number | null): string {
  return `instead of ${limit === null ? 'unlimited' : limit.toLocaleString('en-GB')}`;
}

/** "Members" → "members", but "API calls" stays. */
export function lowerFirst(name: string): string {
  return /^\p{Lu}\p{Ll}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

/** "Members" → "Member" */
export function singular(name: string): string {
  return name.replace(/s$/, '');
}

const featureNames: Record<string, string> = { sso: 'Single sign-on' };

function featureName(feature: string): string {
  return featureNames[feature] ?? spaced(feature);
}

function spaced(identifier: string): string {
  const words = identifier.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
