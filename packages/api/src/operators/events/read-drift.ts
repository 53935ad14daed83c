import { asc, count, eq, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { paymentEvents, paymentSubscriptions as subscription } from '../../db/schema/billing.ts';
import { organisations } from '../../db/schema/organisations.ts';
import type { Operator } from '../../sessions/authorisation.ts';
import { ownerColumns, rowOf, shownRow } from './subscription-row.ts';

const mostRows = 100;

/**
 * Returns the subscription records that may differ from the provider's subscriptions: first
 * those with a problem, then those that await a sync, the longest wait first. Also counts the
 * events that an operator should look at.
 */
export async function readDrift(app: App, _operator: Operator) {
  const drifting = or(subscription.needsSync, sql`${subscription.problem} is not null`);
  const rows = await app.db
    .select({ ...rowOf, organisation: ownerColumns })
    .from(subscription)
    .innerJoin(organisations, eq(organisations.id, subscription.organisationId))
    .where(drifting)
    .orderBy(sql`${subscription.problem} is null`, sql`${subscription.syncedAt} nulls first`, asc(subscription.id))
    .limit(mostRows);
  const [counted] = await app.db.select({ rows: count() }).from(subscription).where(drifting);
  const [flagged] = await app.db.select({ rows: count() }).from(paymentEvents).where(eq(paymentEvents.flagged, true));

  return {
    rows: rows.map(({ organisation, ...row }) => ({ ...shownRow(app, row), organisation })),
    count: counted?.rows ?? 0,
    flagged_events: flagged?.rows ?? 0,
    billing_enabled: app.payment !== null,
  };
}
