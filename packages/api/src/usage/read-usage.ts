import { type SQL, sql } from 'drizzle-orm';
import type { App } from '../app.ts';
import type { Plan } from '../billing/plans/plans.ts';
import { memberships } from '../db/schema/members.ts';
import { usage } from '../db/schema/usage.ts';
import { countsSince, resetsAt } from './meter.ts';

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
export function readingsFrom(app: App, plan: Plan, { counted, members }: UsageFacts): MeterReading[] {
  const now = app.now();

  return app.plans.meters.map((meter) => {
    const since = countsSince(meter, now).getTime();
    const row = counted?.find((each) => each.meter === meter.meter && new Date(each.since).getTime() === since);
    return {
      meter: meter.meter,
      name: meter.name,
      used: meter.meter === 'members' ? members : (row?.used ?? 0),
      limit: plan.limits[meter.meter] ?? null,
      resets_at: resetsAt(meter, now)?.toISOString() ?? null,
    };
  });
}

/**
 * Columns for any query that knows an organisation's id. `monthStart` is the start of the
 * current month; counts of earlier months are excluded.
 */
export function usageFacts(
  organisationId: unknown,
  monthStart: unknown,
): { [Name in keyof UsageFacts]: SQL<UsageFacts[Name]> } {
  return {
    counted: sql`(select json_agg(counted) from (
      select ${usage.meter}, ${usage.since}, ${usage.used} from ${usage}
      where ${usage.organisationId} = ${organisationId}
        and (${usage.since} = 'epoch'::timestamptz or ${usage.since} = ${monthStart})
    ) as counted)`,
    members: sql`(select count(*)::int from ${memberships} where ${memberships.organisationId} = ${organisationId})`,
  };
}
