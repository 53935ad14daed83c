import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions } from '../../platform/db/schema/billing.ts';
import { isAppError, type Text, textOf } from '../../platform/errors.ts';
import { providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { isNotStored, markedForSync, type SubscriptionRow } from '../subscription/newer-state.ts';
import { readRow } from '../subscription/subscription-rows.ts';
import type { SubscriptionOwner } from './store-answer.ts';
import { adoptSubscription } from './sync.ts';

export type SyncRound = {
  /** Syncs the subscription's row. @throws AppError PROVIDER_UNAVAILABLE if the provider does not answer at all. */
  sync: (subscription: SubscriptionOwner & { id: string }) => Promise<void>;
  /** Subscriptions whose rows differed or were missing, with the differences. */
  repaired: Map<string, Difference[]>;
  /** The ids of subscriptions that could not be synced, with the reason. */
  leftOut: Map<string, Text>;
};

/**
 * Starts a round of syncs in which no subscription blocks the others: one that cannot be
 * synced stays marked for a sync, and a busy organisation is waited for only once. Only a
 * provider that does not answer at all ends the round.
 */
export function startRound(app: App): SyncRound {
  const repaired: SyncRound['repaired'] = new Map();
  const leftOut: SyncRound['leftOut'] = new Map();
  const busy = new Map<string, Text>();

  async function markForSync(id: string, why: Text): Promise<void> {
    await app.db.update(paymentSubscriptions).set(markedForSync).where(eq(paymentSubscriptions.id, id));
    leftOut.set(id, why);
  }

  return {
    repaired,
    leftOut,
    async sync({ id, ...owner }) {
      const known = busy.get(owner.organisationId);
      if (known !== undefined) return markForSync(id, known);

      try {
        const before = await readRow(app.db, id);
        await adoptSubscription(app, owner, id);
        leftOut.delete(id);
        const differences = differencesOf(before, await readRow(app.db, id));
        if (differences.length > 0) repaired.set(id, [...(repaired.get(id) ?? []), ...differences]);
      } catch (error) {
        if (isUnreachable(error)) throw error;

        const why = textOf(error);
        if (isAppError(error) && error.code === 'BUSY') busy.set(owner.organisationId, why);
        app.log.warn('A subscription could not be brought up to date.', { subscription: id, error });
        return markForSync(id, why);
      }
    },
  };
}

function isUnreachable(error: unknown): boolean {
  return (
    isAppError(error) && error.code === 'PROVIDER_UNAVAILABLE' && (providerErrorOf(error)?.status ?? null) === null
  );
}

/** A value of a subscription in our row (`was`) and at the provider (`is`). */
export type Difference = { what: string; was: string; is: string };

/** Returns the values that a sync repaired: none if the row agreed, or if it has a problem now. */
function differencesOf(before: SubscriptionRow | null, after: SubscriptionRow | null): Difference[] {
  if (after === null || isNotStored(after.problem)) return [];
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
    'invoice trouble': row.invoiceTrouble ?? 'none',
    problem: isNotStored(row.problem) ? row.problem.replaceAll('_', ' ') : 'none',
  };
}
