import type { App } from '../../app.ts';
import { heldBy } from '../../billing/entitlement/rank-subscriptions.ts';
import { paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';

/** The columns of a subscription record that operators see. */
export const subscriptionColumns = {
  id: subscription.id,
  customerId: subscription.customerId,
  status: subscription.status,
  tier: subscription.tier,
  tierSource: subscription.tierSource,
  priceId: subscription.priceId,
  currentPeriodEnd: subscription.currentPeriodEnd,
  endsAt: subscription.endsAt,
  pastDueSince: subscription.pastDueSince,
  invoiceTrouble: subscription.invoiceTrouble,
  disputed: subscription.disputed,
  needsSync: subscription.needsSync,
  syncedAt: subscription.syncedAt,
  problem: subscription.problem,
};

type ShownColumns = Pick<typeof subscription.$inferSelect, keyof typeof subscriptionColumns>;

/** Converts a subscription record to its JSON form. */
export function shownSubscription({ plans, config }: Pick<App, 'plans' | 'config'>, row: ShownColumns) {
  return {
    id: row.id,
    customer: row.customerId,
    status: row.status,
    /** The name of its tier; null without one. */
    plan: plans.tiers.find(({ tier }) => tier === row.tier)?.name ?? row.tier,
    tier_source: row.tierSource,
    price: row.priceId,
    current_period_end: row.currentPeriodEnd?.toISOString() ?? null,
    ends_at: row.endsAt?.toISOString() ?? null,
    /** Why it gives no plan although its status would; null if it does, or if the status says why. */
    held: heldBy(config, row),
    past_due_since: row.pastDueSince?.toISOString() ?? null,
    needs_sync: row.needsSync,
    synced_at: row.syncedAt?.toISOString() ?? null,
    problem: row.problem,
  };
}
