import { eq, lte, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { recordPlanChange } from '../../changes/record-change.ts';
import { prepared, type Transaction } from '../../db/client.ts';
import { toldOrganisations as published } from '../../db/schema/changes.ts';
import { lockOrganisation } from '../../organisations/lock.ts';
import { planFacts } from '../../organisations/plan-facts.ts';
import { graceEnd, type OrganisationPlan, planFrom } from './read-plan.ts';

/**
 * Adds plan.changed to the feed if the organisation's plan differs from what the feed contains,
 * and stores when it will change by time alone. The caller may have changed it in this transaction,
 * and holds the lock of the organisation's row: of two calls the second reads what the first published.
 */
export async function publishPlan(app: App, tx: Transaction, organisationId: string): Promise<void> {
  const [last] = await lastPublished(tx).execute({ organisationId });
  if (last === undefined) return;

  const current = planFrom(app, last.facts);
  const { status = 'none', endsAt = null } = current.subscription ?? {};
  const ends = endsAt !== null && endsAt > app.now() ? endsAt : null;
  const { tier } = current;
  const due = dueAt(app, current);
  const isPublished = last.tier === tier && last.status === status && isSame(last.endsAt, ends);
  if (isPublished && isSame(last.dueAt, due)) return;

  await tx
    .update(published)
    .set({ tier, status, endsAt: ends, dueAt: due })
    .where(eq(published.organisationId, organisationId));
  if (isPublished) return;
  await recordPlanChange(tx, app.now(), organisationId, { tier, status, ends_at: ends?.toISOString() ?? null });
}

const lastPublished = prepared((db) =>
  db
    .select({
      tier: published.tier,
      status: published.status,
      endsAt: published.endsAt,
      dueAt: published.dueAt,
      facts: planFacts(sql`${published}."organisation_id"`),
    })
    .from(published)
    .where(eq(published.organisationId, sql.placeholder('organisationId')))
    .prepare('told_plan'),
);

function isSame(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

/** The next time at which a scheduled end or the end of the grace period comes; null if there is none. */
function dueAt(app: App, { subscription }: OrganisationPlan): Date | null {
  if (subscription === null) return null;
  const times = [subscription.endsAt, graceEnd(subscription, app.config.pastDueGraceDays)];
  const later = times.filter((time) => time !== null && time > app.now()) as Date[];
  return later.toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null;
}

const batchSize = 200;

/** Publishes the plans that changed by time alone: a scheduled end, or a grace period that ended. */
export async function publishDuePlans(app: App): Promise<void> {
  for (;;) {
    const due = await app.db
      .select({ id: published.organisationId })
      .from(published)
      .where(lte(published.dueAt, app.now()))
      .limit(batchSize);
    for (const { id } of due) {
      await app.db.transaction(async (tx) => {
        if (await lockOrganisation(tx, id)) await publishPlan(app, tx, id);
      });
    }
    if (due.length < batchSize) return;
  }
}
