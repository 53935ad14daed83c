import type { CheckedEntitlement, Entitlements } from './answers.ts';

/** Returns what all entitlements say of a feature or of one more of a meter; null for a name that they do not hold. */
export function checkIn({ organisation, features, usage }: Entitlements, name: string): CheckedEntitlement | null {
  const isOpen = organisation.approval === 'approved';
  const meter = usage.find((each) => each.meter === name);
  if (meter !== undefined) {
    const { used, limit, resets_at } = meter;
    return { name, allowed: isOpen && (limit === null || used < limit), used, limit, resets_at, allowed_by: null };
  }
  if (!Object.hasOwn(features, name)) return null;
  return { name, allowed: isOpen && features[name] === true, allowed_by: null };
}
