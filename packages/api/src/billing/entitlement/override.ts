import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Executor } from '../../platform/db/client.ts';
import { planOverrides } from '../../platform/db/schema/billing.ts';

/** What was agreed with an organisation beside its subscriptions, as it is stored: it may have ended. */
export type OverrideRow = typeof planOverrides.$inferSelect;

/** An override, as its readers get it. Times in ISO 8601; a limit of null is unlimited. */
export type Override = {
  tier: string | null;
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
  grace_days: number | null;
  reason: string;
  until: string | null;
};

/** An override that has not ended; else null. */
export function standing(override: OverrideRow | null, now: Date): OverrideRow | null {
  const end = endOfOverride(override);
  return end === null || end > now ? override : null;
}

/** When an override ends; null for one that stays, and without one. */
export function endOfOverride(override: OverrideRow | null): Date | null {
  return override?.agreed.until == null ? null : new Date(override.agreed.until);
}

/** Returns the override of an organisation that has not ended; null if there is none. */
export async function readOverride(app: App, organisationId: string, db: Executor = app.db): Promise<Override | null> {
  const [row] = await db.select().from(planOverrides).where(eq(planOverrides.organisationId, organisationId));
  const override = standing(row ?? null, app.now());
  return override && shownOverride(override);
}

export function shownOverride({ tier, agreed: { graceDays, ...agreed }, reason }: OverrideRow): Override {
  return { tier, ...agreed, grace_days: graceDays, reason };
}
