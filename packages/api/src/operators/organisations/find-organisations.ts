import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { planSummaryOf } from '../../billing/summary/read-subscription.ts';
import { basicColumns, organisationStatusOf } from '../../organisations/account-status.ts';
import { currentPlan, type PlanRow, planColumns } from '../../organisations/plan.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { type ListInput, pageOf } from '../pagination.ts';
import { contains, readSearchReach } from '../search.ts';

/**
 * Returns a page of the organisations, newest first: all of them, or those whose name or slug
 * contains the search (`search_finds` says how far it reaches). Each has its status, its plan and
 * the address of its first owner.
 */
export function findOrganisations(app: App, _operator: Operator, input: ListInput) {
  return listOrganisations(app, input);
}

/** Does what `findOrganisations` does, for an admin command. */
export async function listOrganisations(app: App, { search, after, rows }: ListInput) {
  const found = await app.db
    .select(organisationColumns)
    .from(organisations)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(and(await matches(app, search), after === undefined ? undefined : lt(organisations.id, after)))
    .orderBy(desc(organisations.id))
    .limit(rows + 1);
  const { shown, next } = pageOf(found, rows);
  return {
    organisations: shown.map((row) => shownOrganisation(app, row)),
    next,
    search_finds: await readSearchReach(app),
  };
}

/**
 * The columns that `shownOrganisation` reads. Subqueries write `organisations.id` in full, because drizzle
 * shortens it where it selects from one table.
 */
export const organisationColumns = {
  ...basicColumns,
  createdAt: organisations.createdAt,
  planRow: planColumns,
  owner: sql<string | null>`(
    select owners.email from memberships owned join users owners on owners.id = owned.user_id
    where owned.organisation_id = organisations.id and owned.role = 'owner'
    order by owned.created_at, owned.user_id limit 1)`,
};

type Row = Pick<
  typeof organisations.$inferSelect,
  'id' | 'slug' | 'name' | 'approval' | 'suspendedAt' | 'createdAt'
> & {
  planRow: PlanRow | null;
  owner: string | null;
};

/** Converts an organisation to the form that operators see. */
export function shownOrganisation(app: App, { planRow, approval, suspendedAt, createdAt, ...row }: Row) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    owner: row.owner,
    status: organisationStatusOf({ approval, suspendedAt }),
    created_at: createdAt.toISOString(),
    plan: planSummaryOf(currentPlan(app, planRow), app.now()),
  };
}

async function matches(app: App, search: string | undefined): Promise<SQL | undefined> {
  return search ? contains(app, search, { lower: [organisations.slug], mixed: [organisations.name] }) : undefined;
}
