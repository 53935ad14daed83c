import { and, asc, desc, eq, isNotNull, isNull, lt, notInArray, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Operator } from '../../auth/principal.ts';
import { readOverride } from '../../billing/entitlement/override.ts';
import { planSummaryOf } from '../../billing/summary/read-subscription.ts';
import { approvalOf, basicColumns } from '../../organisations/account-status.ts';
import { currentPlan, type PlanRow, planColumns } from '../../organisations/plan.ts';
import { users } from '../../platform/db/schema/accounts.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { memberships } from '../../platform/db/schema/members.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { pageOf } from '../../platform/security/keyset-pagination.ts';
import { freeLine } from '../../platform/security/text.ts';
import type { CommandLine } from '../actor.ts';
import { listInput } from '../pagination.ts';
import { entriesAboutOrganisation } from '../read-entries.ts';
import { contains, readSearchReach } from '../search.ts';

const organisationStatuses = ['approved', 'pending', 'declined', 'suspended'] as const;

export const organisationsInput = listInput.extend({
  status: z.enum(organisationStatuses, zodMessage('not_a_status')).optional(),
  /** A tier of the plans. Any other value finds no organisation. */
  tier: freeLine(100).optional(),
});

/**
 * Returns a page of the organisations, newest first: all of them, or those whose name or slug contains the search
 * (`search_finds` says how far it reaches), with the status and the tier. Each has its status, its plan and the address of
 * its first owner.
 */
export async function listOrganisations(
  app: App,
  _reader: Operator | CommandLine,
  { search, status, tier, after, rows }: z.output<typeof organisationsInput>,
) {
  const found = await app.db
    .select(organisationColumns)
    .from(organisations)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(
      and(
        await matches(app, search),
        hasStatus(status),
        hasTier(app, tier),
        after === undefined ? undefined : lt(organisations.id, after),
      ),
    )
    .orderBy(desc(organisations.id))
    .limit(rows + 1);
  const { page, next } = pageOf(found, rows, ({ id }) => id);
  return {
    organisations: page.map((row) => shownOrganisation(app, row)),
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
function shownOrganisation(app: App, { planRow, approval, suspendedAt, createdAt, ...row }: Row) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    owner: row.owner,
    status: approvalOf({ approval, suspendedAt }),
    created_at: createdAt.toISOString(),
    plan: planSummaryOf(currentPlan(app, planRow), app.now()),
  };
}

async function matches(app: App, search: string | undefined): Promise<SQL | undefined> {
  return search ? contains(app, search, { lower: [organisations.slug], mixed: [organisations.name] }) : undefined;
}

function hasStatus(status: (typeof organisationStatuses)[number] | undefined): SQL | undefined {
  if (status === undefined) return undefined;
  if (status === 'suspended') return isNotNull(organisations.suspendedAt);
  return and(isNull(organisations.suspendedAt), eq(organisations.approval, status));
}

/** The condition that an organisation has a tier now, as `currentPlan` reads it: the first one without a row, too. */
function hasTier(app: App, tier: string | undefined): SQL | undefined {
  if (!tier) return undefined;
  const { validUntil, nextTier, tier: stored } = organisationPlans;
  const current = sql`case when ${validUntil} <= ${app.now().toISOString()} then ${nextTier} else ${stored} end`;
  if (tier !== app.plans.tiers[0].tier) return eq(current, tier);
  const others = app.plans.tiers.slice(1).map((each) => each.tier);
  return or(isNull(current), notInArray(current, others));
}

const maxMembers = 50;

export const organisationInput = z.object({ organisation_id: z.uuid(zodMessage('no_such_organisation')) });

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
  if (row === undefined) throw new AppError('NOT_FOUND', message('no_such_organisation'));

  const [members, entries, override] = await Promise.all([
    app.db
      .select({ id: users.id, email: users.email, name: users.name, role: memberships.role })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(eq(memberships.organisationId, id))
      .orderBy(asc(memberships.createdAt), asc(users.id))
      .limit(maxMembers + 1),
    entriesAboutOrganisation(app.db, id),
    readOverride(app, id),
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
    /** What was agreed beside its subscription; null without an override. */
    override,
    /** What an override may name. */
    plans: {
      tiers: app.plans.tiers.map(({ tier, name }) => ({ tier, name })),
      meters: app.plans.meters.map(({ meter, name }) => ({ meter, name })),
      features: Object.keys(app.plans.tiers[0].features),
    },
    entries,
  };
}
