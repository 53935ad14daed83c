import { and, count, eq, isNotNull, notInArray } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { paidTiers } from './plans.ts';

/**
 * Returns a sentence for each tier of a subscription that has not ended, if the plans do not hold the tier. Their
 * organisations have the free plan, which a tier renamed in PLANS_FILE would cause without a notice.
 */
export async function missingTiers(app: App): Promise<string[]> {
  const rows = await app.db
    .select({ tier: subscription.tier, subscriptions: count() })
    .from(subscription)
    .where(
      and(
        eq(subscription.ended, false),
        isNotNull(subscription.tier),
        notInArray(subscription.tier, paidTiers(app.plans)),
      ),
    )
    .groupBy(subscription.tier)
    .orderBy(subscription.tier);
  return rows.map(
    ({ tier, subscriptions }) =>
      `The plans do not hold the tier ${tier}, which ${subscriptions} running subscriptions pay for: their organisations get what is free. Add it to PLANS_FILE.`,
  );
}

/** Logs the sentences of `missingTiers` as warnings. */
export async function warnOfMissingTiers(app: App): Promise<void> {
  for (const sentence of await missingTiers(app)) app.log.warn(sentence);
}
