import { asc, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { entriesAboutOrganisation } from '../read-entries.ts';
import { organisationColumns, shownOrganisation } from './find-organisations.ts';

const maxMembers = 50;

export const organisationInput = z.object({ organisation_id: z.uuid('There is no such organisation.') });

/**
 * Returns the facts about an organisation, its first members and the newest audit entries about it.
 *
 * @throws AppError NOT_FOUND if there is no such organisation.
 */
export async function readOrganisationPage(
  app: App,
  principal: Operator,
  { organisation_id: id }: z.output<typeof organisationInput>,
) {
  const { organisationId: own } = principal;
  const [row] = await app.db
    .select({
      ...organisationColumns,
      approvedAt: organisations.approvedAt,
      declinedAt: organisations.declinedAt,
      declineReason: organisations.declineReason,
    })
    .from(organisations)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(eq(organisations.id, id));
  if (row === undefined) throw new AppError('NOT_FOUND', 'There is no such organisation.');

  const [members, entries] = await Promise.all([
    app.db
      .select({ id: users.id, email: users.email, name: users.name, role: memberships.role })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(eq(memberships.organisationId, id))
      .orderBy(asc(memberships.createdAt), asc(users.id))
      .limit(maxMembers + 1),
    entriesAboutOrganisation(app.db, id),
  ]);
  return {
    ...shownOrganisation(app, row),
    approval: row.approval,
    /** Whether the operator acts for it, and so cannot close it. */
    own: own === id,
    approved_at: row.approvedAt?.toISOString() ?? null,
    declined_at: row.declinedAt?.toISOString() ?? null,
    decline_reason: row.declineReason,
    suspended_at: row.suspendedAt?.toISOString() ?? null,
    members: members.slice(0, maxMembers),
    more_members: members.length > maxMembers,
    entries,
  };
}
