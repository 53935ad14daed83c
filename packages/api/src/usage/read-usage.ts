import { type SQL, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import { entitlingSubscription, type OrganisationPlan } from '../billing/entitlement/read-plan.ts';
import { memberships } from '../db/schema/members.ts';
import { usage } from '../db/schema/usage.ts';
import { periodOf } from './meter.ts';

export type MeterReading = {
  meter: string;
  name: string;
  used: number;
  /** Null if the plan has no limit. */
  limit: number | null;
  resets_at: string | null;
};

export type UsageFacts = { counted: { meter: string; since: string; used: number }[] | null; members: number };

/** Returns every meter with an organisation's usage and its plan's limit. */
export function readingsFrom(app: App, current: OrganisationPlan, { counted, members }: UsageFacts): MeterReading[] {
  const now = app.now();
  const subscription = entitlingSubscription(current);

  return app.plans.meters.map((meter) => {
    const { since, resetsAt } = periodOf(app, meter, subscription, now);
    const row = counted?.find(
      (each) => each.meter === meter.meter && new Date(each.since).getTime() === since.getTime(),
    );
    return {
      meter: meter.meter,
      name: meter.name,
      used: meter.meter === 'members' ? members : (row?.used ?? 0),
      limit: current.plan.limits[meter.meter] ?? null,
      resets_at: resetsAt?.toISOString() ?? null,
    };
  });
}

/** Returns the time before which no current period of a counter can have started. */
export function earliestPeriod(now: Date): Date {
  return new Date(now.getTime() - 370 * 86_400_000);
}

/**
 * Columns for any query that knows an organisation's id. Counts of periods that started
 * before `earliest` are excluded.
 */
export function usageFacts(
  organisationId: unknown,
  earliest: unknown,
): { [Name in keyof UsageFacts]: SQL<UsageFacts[Name]> } {
  return {
    counted: sql`(select json_agg(counted) from (
      select ${usage.meter}, ${usage.since}, ${usage.used} from ${usage}
      where ${usage.organisationId} = ${organisationId}
        and (${usage.since} = 'epoch'::timestamptz or ${usage.since} >= ${earliest})
    ) as counted)`,
    members: sql`(select count(*)::int from ${memberships} where ${memberships.organisationId} = ${organisationId})`,
  };
}
