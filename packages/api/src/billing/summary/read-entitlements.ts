import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Holding, Principal } from '../../auth/principal.ts';
import { readableTarget, type Target, targetField } from '../../auth/sessions/target-organisation.ts';
import { currentPlan } from '../../organisations/plan.ts';
import { prepared } from '../../platform/db/client.ts';
import { AppError } from '../../platform/errors.ts';
import type { Tier } from '../plans/plans.ts';
import { allowedBy } from '../usage/limit.ts';
import { readingsFrom, storedUsage } from '../usage/meter.ts';
import { planSummaryOf } from './read-subscription.ts';

export const entitlementsInput = z.object({ organisation: targetField });
export const entitlementInput = entitlementsInput.extend({ name: z.string('A feature or meter is required.') });

type ReadPrincipal = Principal & Holding<'READ'>;

/**
 * Returns the plan, the features and the usage of an organisation. `approval` is always 'approved',
 * except for a key of the deployment, which also reads organisations that await approval or are closed: they have no
 * features and limits of 0, so that a caller who forgets to look at it gives nothing away.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for an unknown organisation, or one that the principal does not act for.
 */
export async function readEntitlements(
  app: App,
  principal: ReadPrincipal,
  { organisation }: z.output<typeof entitlementsInput>,
) {
  const target = await readableTarget(app, principal, organisation);
  const { current, usage } = await readUse(app, target);

  const { tier, name, status, ends_at } = planSummaryOf(current, app.now());
  const isOpen = target.approval === 'approved';
  return {
    organisation: { ...target.organisation, approval: target.approval },
    plan: { tier, name, status, ends_at },
    features: isOpen
      ? current.plan.features
      : Object.fromEntries(Object.keys(current.plan.features).map((name) => [name, false])),
    usage: isOpen ? usage : usage.map((meter) => ({ ...meter, limit: 0 })),
  };
}

export type Entitlement = {
  name: string;
  allowed: boolean;
  used?: number;
  /** Null if the plan has no limit. */
  limit?: number | null;
  resets_at?: string | null;
  /** The tiers that allow it, in rising rank. */
  allowed_by: Tier[];
};

/**
 * Returns whether an organisation may use a feature, or one more of a meter, now. It may not
 * while it is closed or awaits approval.
 *
 * @throws AppError as `readEntitlements`; NOT_FOUND also for an unknown feature or meter.
 */
export async function checkEntitlement(
  app: App,
  principal: ReadPrincipal,
  { organisation, name }: z.output<typeof entitlementInput>,
): Promise<Entitlement> {
  const target = await readableTarget(app, principal, organisation);
  const isOpen = target.approval === 'approved';

  if (app.plans.meters.some(({ meter }) => meter === name)) {
    const { usage } = await readUse(app, target);
    const { used = 0, limit = null, resets_at = null } = usage.find(({ meter }) => meter === name) ?? {};
    if (!isOpen) return { name, allowed: false, used, limit: 0, resets_at, allowed_by: [] };
    const allowed = limit === null || used < limit;
    return { name, allowed, used, limit, resets_at, allowed_by: allowedBy(app.plans, name, used + 1) };
  }

  const { features } = currentPlan(app, target.planRow).plan;
  if (!Object.hasOwn(features, name)) throw new AppError('NOT_FOUND', 'There is no such feature or meter.');
  if (!isOpen) return { name, allowed: false, allowed_by: [] };
  const tiers = app.plans.tiers.filter((each) => each.features[name]).map(({ tier }) => tier);
  return { name, allowed: features[name] === true, allowed_by: tiers };
}

async function readUse(app: App, { organisationId, planRow }: Target) {
  const [row] = await organisationUse(app.db).execute({ organisationId, now: app.now().toISOString() });

  const current = currentPlan(app, planRow);
  return { current, usage: readingsFrom(app, current, row?.usage ?? { counted: null, members: 0 }) };
}

const organisationUse = prepared((db) =>
  db
    .select({ usage: storedUsage(sql.placeholder('organisationId'), sql.placeholder('now')) })
    .from(sql`(select 1) as one`)
    .prepare('organisation_use'),
);
