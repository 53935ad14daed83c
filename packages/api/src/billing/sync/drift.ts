import type { paymentSubscriptions } from '../../db/schema/billing.ts';

type Row = typeof paymentSubscriptions.$inferSelect;

/** What a row said of a subscription, and what the provider says of it. */
export type Difference = { what: string; was: string; is: string };

/** In what a row was repaired by a sync: nothing where it agreed, or where something is wrong with it now. */
export function differencesOf(before: Row | null, after: Row | null): Difference[] {
  if (after === null || after.problem !== null) return [];
  if (before === null) return [{ what: 'row', was: 'none', is: `${after.tier ?? 'no tier'}, ${after.status}` }];

  const [was, is] = [shown(before), shown(after)];
  return Object.entries(is).flatMap(([what, value]) => {
    const old = was[what] ?? '';
    return old === value ? [] : [{ what, was: old, is: value }];
  });
}

function shown(row: Row): Record<string, string> {
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
