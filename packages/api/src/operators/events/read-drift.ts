import { asc, eq, or, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { paymentEvents, paymentSubscriptions as subscription } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { maxCounted } from '../queue/read-counts.ts';
import { ownerColumns, shownSubscription, subscriptionColumns } from './shown-subscription.ts';

const maxRows = 100;

/**
 * Returns the subscription records that may differ from the provider's subscriptions: first
 * those with a problem, then those that await a sync, the longest wait first. Also counts the
 * events that an operator should look at.
 */
export async function readDrift(app: App, _operator: Operator) {
  const drifting = or(subscription.needsSync, sql`${subscription.problem} is not null`);
  const rows = await app.db
    .select({ ...subscriptionColumns, organisation: ownerColumns })
    .from(subscription)
    .innerJoin(organisations, eq(organisations.id, subscription.organisationId))
    .where(drifting)
    .orderBy(sql`${subscription.problem} is null`, sql`${subscription.syncedAt} nulls first`, asc(subscription.id))
    .limit(maxRows);
  const few = { one: sql`1` };
  const someRows = app.db.select(few).from(subscription).where(drifting).limit(maxCounted);
  const someEvents = app.db.select(few).from(paymentEvents).where(eq(paymentEvents.flagged, true)).limit(maxCounted);
  const [counts] = await app.db.execute<{ rows: number; events: number }>(sql`
    select (select count(*)::int from ${someRows} as counted) as rows,
      (select count(*)::int from ${someEvents} as counted) as events`);

  return {
    rows: rows.map(({ organisation, ...row }) => ({ ...shownSubscription(app, row), organisation })),
    count: counts?.rows ?? 0,
    flagged_events: counts?.events ?? 0,
    /** Both counts end here. */
    most: maxCounted,
    billing_enabled: app.payment !== null,
  };
}
