import type { Transaction } from '../platform/db/client.ts';
import { changes } from '../platform/db/schema/changes.ts';

/**
 * Adds a change of an organisation's plan to the feed, in the transaction of the change. Every
 * other type is written by a trigger of its table, so that no statement can forget it.
 */
export async function recordPlanChange(
  tx: Transaction,
  now: Date,
  organisationId: string,
  data: { tier: string; status: string; ends_at: string | null },
): Promise<void> {
  await tx.insert(changes).values({ at: now, type: 'plan.changed', organisationId, data });
}
