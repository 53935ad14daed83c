import { eq, lte } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordPlanChange } from '../../changes/record-change.ts';
import type { Transaction } from '../../db/client.ts';
import { toldOrganisations as told } from '../../db/schema/changes.ts';
import { graceEnd } from './entitlement.ts';
import { type OrganisationPlan, readPlan } from './read-plan.ts';

/**
 * Adds plan.changed to the feed if the organisation's plan differs from what the feed told last,
 * and stores when it will change by time alone. The caller may have changed it in this transaction.
 */
export async function tellPlan(app: App, tx: Transaction, organisationId: string): Promise<void> {
  // The lock comes first, so that of two calls the second reads what the first told.
  const [last] = await tx.select().from(told).where(eq(told.organisationId, organisationId)).for('update');
  if (last === undefined) return;

  const current = await readPlan(app, organisationId, tx);
  const { status = 'none', endsAt = null } = current.subscription ?? {};
  const ends = endsAt !== null && endsAt > app.now() ? endsAt : null;
  const { tier } = current;
  await tx
    .update(told)
    .set({ tier, status, endsAt: ends, dueAt: dueAt(app, current) })
    .where(eq(told.organisationId, organisationId));
  if (last.tier === tier && last.status === status && last.endsAt?.getTime() === ends?.getTime()) return;

  await recordPlanChange(tx, app.now(), organisationId, { tier, status, ends_at: ends?.toISOString() ?? null });
}

/** The next time at which a scheduled end or the end of the grace period comes; null if there is none. */
function dueAt(app: App, { subscription }: OrganisationPlan): Date | null {
  if (subscription === null) return null;
  const times = [subscription.endsAt, graceEnd(subscription, app.config.pastDueGraceDays)];
  const later = times.filter((time) => time !== null && time > app.now()) as Date[];
  return later.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

const batchSize = 200;

/** Tells of the plans that changed by time alone: a scheduled end, or a grace period that ended. */
export async function tellDuePlans(app: App): Promise<void> {
  for (;;) {
    const due = await app.db
      .select({ id: told.organisationId })
      .from(told)
      .where(lte(told.dueAt, app.now()))
      .limit(batchSize);
    for (const { id } of due) await app.db.transaction((tx) => tellPlan(app, tx, id));
    if (due.length < batchSize) return;
  }
}
