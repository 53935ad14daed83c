import { z } from 'zod';
import type { App } from '../app.ts';
import { loggedActions, readOrganisationLog } from '../audit/read-organisation-log.ts';
import type { Administrator } from '../auth/principal.ts';
import { readPlan } from '../organisations/plan.ts';
import { endOfDay, storableTime } from '../platform/durations.ts';
import { zodMessage } from '../platform/messages.ts';
import { idAfter, keysetInput, keysetPageOf } from '../platform/security/keyset-pagination.ts';

const feature = 'audit_log';
const day = z.iso.date(zodMessage('no_such_day')).optional();

export const auditLogInput = keysetInput.extend({
  action: z.enum(loggedActions, zodMessage('choose_from_actions')).optional(),
  /** The first and the last day, in UTC. */
  from: day,
  until: day,
});

/**
 * Returns a page of what happened in the organisation, newest first, for its administrators, where the plan has the
 * feature `audit_log`. Without it the page is null, and `tiers` names the plans that have it. Entries are kept
 * RETENTION_DAYS whatever the plan, so that a plan shows those from before it too.
 *
 * @throws AppError NO_ORGANISATION; VALIDATION if `after` is not a page's `next`.
 */
export async function readAuditLog(app: App, principal: Administrator, input: z.output<typeof auditLogInput>) {
  const { id: organisationId } = principal.requireOrganisation();
  const { action, from, until, limit } = input;

  const { plan } = await readPlan(app, organisationId);
  const tiers = app.plans.tiers.filter(({ features }) => features[feature]).map(({ name }) => name);
  if (plan.features[feature] !== true) return { tiers, actions: loggedActions, log: null };

  const entries = await readOrganisationLog(app.db, {
    organisationId,
    action,
    from: from === undefined ? undefined : storableTime(Date.parse(from)),
    until: until === undefined ? undefined : endOfDay(until),
    after: idAfter(input),
    limit: limit + 1,
  });
  const { page, next } = keysetPageOf(entries, limit);
  return { tiers, actions: loggedActions, log: { entries: page, next } };
}
