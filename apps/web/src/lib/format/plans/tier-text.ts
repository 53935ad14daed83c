import { formatNumber } from '#lib/format/numbers.ts';
import { texts } from '#lib/language/texts.ts';
import type { Tier, Usage } from '#lib/subscription.ts';
import { inSentence, singular } from './meter-name.ts';

export interface Line {
  key: string;
  included: boolean;
  text: string;
  /** Whether the tier that this one is compared with differs in this line. */
  changed: boolean;
  /** What a changed limit replaces: "instead of 10". */
  instead: string;
}

type Meters = Pick<Usage, 'meter' | 'name' | 'resets'>[];

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
    text: on ? featureName(feature) : withoutText(feature),
    changed: on !== (other.features[feature] ?? false),
    instead: '',
  }));
  return [...limits, ...features];
}

/**
 * What the change from one tier to another takes away: "2 members instead of 10", "No single sign-on". Not the `kept` meters
 * and features, which were agreed beside the tier.
 */
export function lossesText(from: Tier, to: Tier, meters: Meters, kept: string[] = []): string[] {
  const limits = Object.entries(to.limits).flatMap(([meter, limit]) => {
    const before = from.limits[meter];
    if (kept.includes(meter) || limit === null || before === undefined || (before !== null && before <= limit))
      return [];
    return [`${limitText(meter, limit, meters)} ${insteadOf(before)}`];
  });
  const features = Object.entries(from.features)
    .filter(([feature, on]) => on && !to.features[feature] && !kept.includes(feature))
    .map(([feature]) => withoutText(feature));
  return [...limits, ...features];
}

/** "10 members", "50,000 API calls a month" or "in a billing period", "Unlimited members", "No projects". */
export function limitText(id: string, limit: number | null, meters: Meters): string {
  const t = texts('plan');
  const meter = meters.find((each) => each.meter === id) ?? { meter: id, name: withSpaces(id), resets: null };
  if (limit === null) return t.unlimitedOf({ meter: id, name: inSentence(meter.name) });
  if (limit === 0) return t.noneOf({ meter: id, name: inSentence(meter.name) });
  const amount = t.amountOf({
    meter: id,
    name: inSentence(limit === 1 ? singular(meter.name) : meter.name),
    count: limit,
    amount: formatNumber(limit),
  });
  return meter.resets ? t.perPeriod({ amount, resets: meter.resets }) : amount;
}

function insteadOf(limit: number | null): string {
  const t = texts('plan');
  return t.insteadOf({ limit: limit === null ? t.unlimited : formatNumber(limit) });
}

function withoutText(feature: string): string {
  return texts('plan').without({ feature, name: inSentence(withSpaces(feature)) });
}

export function featureName(feature: string): string {
  return texts('plan').feature({ feature, name: withSpaces(feature) });
}

function withSpaces(identifier: string): string {
  const words = identifier.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
