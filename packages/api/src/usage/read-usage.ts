import type { App } from '../app.ts';
import { entitlingSubscription, type OrganisationPlan } from '../billing/entitlement/read-plan.ts';
import type { UsageFacts } from '../organisations/usage-facts.ts';
import { periodOf } from './meter.ts';

export type MeterReading = {
  meter: string;
  name: string;
  used: number;
  /** Null if the plan has no limit. */
  limit: number | null;
  resets_at: string | null;
};

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
