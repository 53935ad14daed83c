import type { SubscriptionRow } from '../subscription/newer-state.ts';

/** A value of a subscription in our row (`was`) and at the provider (`is`). */
export type Difference = { what: string; was: string; is: string };

/** Returns the values that a sync repaired: none if the row agreed, or if it has a problem now. */
export function differencesOf(before: SubscriptionRow | null, after: SubscriptionRow | null): Difference[] {
  if (after === null || after.problem !== null) return [];
  if (before === null) return [{ what: 'row', was: 'none', is: `${after.tier ?? 'no tier'}, ${after.status}` }];

  const [was, is] = [comparedValues(before), comparedValues(after)];
  return Object.entries(is).flatMap(([what, value]) => {
    const old = was[what] ?? '';
    return old === value ? [] : [{ what, was: old, is: value }];
  });
}

function comparedValues(row: SubscriptionRow): Record<string, string> {
  return {
    status: row.status ?? 'none',
    tier: row.tier ?? 'none',
    price: row.priceId ?? 'none',
    'set to end': row.cancelAtPeriodEnd ? 'yes' : 'no',
    'period end': row.currentPeriodEnd?.toISOString() ?? 'none',
    end: row.endsAt?.toISOString() ?? 'none',
    problem: row.problem?.replaceAll('_', ' ') ?? 'none',
  };
}
