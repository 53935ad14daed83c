import { eq } from 'drizzle-orm';
import type { App } from '../../app.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import { readPlan } from '../../organisations/plan.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { limitReached } from './limit.ts';

/**
 * Checks that the plan allows one more member. The organisation's row stays locked until the
 * transaction ends, so concurrent joins wait. The number of memberships is the value of the meter.
 *
 * @throws AppError LIMIT_REACHED with a sentence that names the limit, and with meter, used, limit and allowed_by.
 */
export async function requireRoomForMember(app: App, tx: Transaction, organisationId: string): Promise<void> {
  const meter = app.plans.meters.find((each) => each.meter === 'members');
  if (meter === undefined) return;

  await lockOrganisation(tx, organisationId);
  const { plan } = await readPlan(app, organisationId, tx);
  const limit = plan.limits.members ?? null;
  const members = await tx.$count(memberships, eq(memberships.organisationId, organisationId));
  if (limit !== null && members >= limit) {
    throw limitReached(app.plans, meter, { plan, used: members, limit, needed: members + 1 });
  }
}
