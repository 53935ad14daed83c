import { and, asc, eq, gt } from 'drizzle-orm';
import type { z } from 'zod';
import type { App } from '../../app.ts';
import type { ForDeployment } from '../../auth/principal.ts';
import { approvalOf, isVerified } from '../../organisations/account-status.ts';
import { currentPlan, planColumns } from '../../organisations/plan.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { idAfter, type keysetInput, keysetPageOf } from '../../platform/security/keyset-pagination.ts';

/**
 * Returns a page of all organisations, including those that await approval or are closed. `next` is null on the
 * last page.
 *
 * @throws AppError VALIDATION for an unreadable `after`.
 */
export async function listOrganisations(app: App, _principal: ForDeployment, input: z.output<typeof keysetInput>) {
  const after = idAfter(input);
  const rows = await app.db
    .select({
      id: organisations.id,
      slug: organisations.slug,
      name: organisations.name,
      approval: organisations.approval,
      suspendedAt: organisations.suspendedAt,
      planRow: planColumns,
    })
    .from(organisations)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(and(isVerified(), after === null ? undefined : gt(organisations.id, after)))
    .orderBy(asc(organisations.id))
    .limit(input.limit + 1);

  const { page, next } = keysetPageOf(rows, input.limit);
  return {
    organisations: page.map(({ id, slug, name, planRow, ...status }) => {
      return { id, slug, name, approval: approvalOf(status), tier: currentPlan(app, planRow).tier };
    }),
    next,
  };
}
