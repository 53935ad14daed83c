import type { Tier } from '#lib/subscription.ts';

export interface Line {
  key: string;
  included: boolean;
  text: string;
}

/** What a tier includes, one line for each meter and feature, meters first. */
export function tierLines(tier: Tier, meterNames: Map<string, string>): Line[] {
  const limits = Object.entries(tier.limits).map(([meter, limit]) => ({
    key: meter,
    included: limit !== 0,
    text: limitText(meterNames.get(meter) ?? spaced(meter), limit),
  }));
  const features = Object.entries(tier.features).map(([feature, on]) => ({
    key: feature,
    included: on,
    text: on ? featureName(feature) : `No ${lowerFirst(featureName(feature))}`,
  }));
  return [...limits, ...features];
}

/** What the change from one tier to another takes away: "2 members instead of 10", "No single sign-on". */
export function lossesText(from: Tier, to: Tier, meterNames: Map<string, string>): string[] {
  const limits = Object.entries(to.limits).flatMap(([meter, limit]) => {
    const before = from.limits[meter];
    if (limit === null || before === undefined || (before !== null && before <= limit)) return [];
    const instead = before === null ? 'no limit' : before.toLocaleString('en-GB');
    return [`${limitText(meterNames.get(meter) ?? spaced(meter), limit)} instead of ${instead}`];
  });
  const features = Object.entries(from.features)
    .filter(([feature, on]) => on && !to.features[feature])
    .map(([feature]) => `No ${lowerFirst(featureName(feature))}`);
  return [...limits, ...features];
}

function limitText(name: string, limit: number | null): string {
  if (limit === null) return `${name} without limit`;
  const noun = limit === 1 ? lowerFirst(name).replace(/s$/, '') : lowerFirst(name);
  return limit === 0 ? `No ${noun}` : `${limit.toLocaleString('en-GB')} ${noun}`;
}

/** "Members" → "members", but "API calls" stays. */
export function lowerFirst(name: string): string {
  return /^\p{Lu}\p{Ll}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

const featureNames: Record<string, string> = { sso: 'Single sign-on' };

function featureName(feature: string): string {
  return featureNames[feature] ?? spaced(feature);
}

function spaced(identifier: string): string {
  const words = identifier.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
