import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { App } from '../../app.ts';
import {
  type Approval,
  approvalOf,
  basicColumns,
  isVerified,
  requireApprovedOrganisation,
} from '../../organisations/account-status.ts';
import { currentPlan, type PlanRow, planColumns } from '../../organisations/plan.ts';
import { type Executor, prepared } from '../../platform/db/client.ts';
import { isUuid } from '../../platform/db/id.ts';
import { organisationPlans } from '../../platform/db/schema/billing.ts';
import { organisations } from '../../platform/db/schema/organisations.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import { storableText } from '../../platform/security/text.ts';
import type { Holding, Principal } from '../principal.ts';

/** An organisation, as a service names it: by id or slug. */
export const targetField = storableText('An organisation is required.').refine(
  (reference) => reference !== '',
  'An organisation is required.',
);

/** The organisation that a request is about, with its plan as it is stored. */
export type Target = {
  organisationId: string;
  organisation: { id: string; slug: string; name: string | null };
  approval: Approval;
  planRow: PlanRow | null;
};

type ReadPrincipal = Principal & Holding<'READ'>;
type WritePrincipal = Principal & Holding<'WRITE'>;

/**
 * Returns the organisation that a request names, which for a key of the deployment may be any one,
 * closed or awaiting approval too, and for other principals is their own.
 *
 * @throws AppError NO_ORGANISATION; NOT_FOUND for another organisation, as for an unknown one.
 */
export async function readableTarget(app: App, principal: ReadPrincipal, reference: string): Promise<Target> {
  const own = ownTarget(principal);
  if (own !== null) {
    if (!isNamedBy(reference, own.organisation)) throw unknown();
    return own;
  }

  const statement = isUuid(reference) ? byId : bySlug;
  const [row] = await statement(app.db).execute({ reference: reference.toLowerCase() });
  if (row === undefined) throw unknown();
  return targetFrom(row);
}

/**
 * Returns the organisation that a request names, for a change of its usage.
 *
 * @throws AppError as `readableTarget`; FORBIDDEN if it is closed, AWAITING_APPROVAL if it awaits
 *   approval.
 */
export async function writableTarget(app: App, principal: WritePrincipal, reference: string): Promise<Target> {
  const target = await readableTarget(app, principal, reference);
  requireApprovedOrganisation(target.approval);
  return target;
}

/**
 * Returns the organisations of a batch by the text that names them, in one query.
 *
 * @throws AppError as `writableTarget`, with the field of the first record that fails
 *   (`records.2.organisation`).
 */
export async function writableTargets(app: App, principal: WritePrincipal, references: string[]): Promise<Target[]> {
  const own = ownTarget(principal);
  const known =
    own === null ? await readTargets(app, [...new Set(references.map((each) => each.toLowerCase()))]) : [own];
  const byName = new Map(
    known.flatMap((target) => [
      [target.organisation.slug, target],
      [target.organisationId, target],
    ]),
  );

  return references.map((reference, at) => {
    const target = byName.get(reference.toLowerCase());
    const field = `records.${at}.organisation`;
    if (target === undefined) throw unknown(field);
    requireApprovedOrganisation(target.approval, field);
    return target;
  });
}

/** Returns the organisation of a principal; null for a key of the deployment. */
function ownTarget(principal: ReadPrincipal): Target | null {
  if (principal.kind === 'key' && principal.organisation === null) return null;
  const organisation = principal.requireOrganisation();
  // A principal with a scope acts for an approved organisation.
  return { organisationId: organisation.id, organisation, approval: 'approved', planRow: principal.planRow };
}

/** A text in the form of an id names an id only, so that no slug is mistaken for another organisation's id. */
function isNamedBy(reference: string, { id, slug }: Target['organisation']): boolean {
  const wanted = reference.toLowerCase();
  return wanted === (isUuid(reference) ? id : slug);
}

function unknown(field?: string): AppError {
  const sentence = message('no_such_organisation');
  return new AppError('NOT_FOUND', sentence, field === undefined ? {} : { fields: { [field]: sentence } });
}

const byId = prepared((db) =>
  selectTargets(db, eq(organisations.id, sql.placeholder('reference'))).prepare('target_by_id'),
);
const bySlug = prepared((db) =>
  selectTargets(db, eq(organisations.slug, sql.placeholder('reference'))).prepare('target_by_slug'),
);

async function readTargets(app: App, references: string[]): Promise<Target[]> {
  const ids = references.filter(isUuid);
  const slugs = references.filter((reference) => !isUuid(reference));
  const rows = await selectTargets(app.db, or(inArray(organisations.id, ids), inArray(organisations.slug, slugs)));
  return rows.map(targetFrom);
}

/** Returns an organisation as lists show one. @throws AppError NOT_FOUND. */
export async function readListed(app: App, db: Executor, organisationId: string) {
  const [row] = await selectTargets(db, eq(organisations.id, organisationId));
  if (row === undefined) throw unknown();
  return listedOf(app, targetFrom(row));
}

export function listedOf(app: App, { organisation, approval, planRow }: Target) {
  const { id, slug, name } = organisation;
  return { id, slug, name, approval, tier: currentPlan(app, planRow).tier };
}

/** Selects the organisations that other services may know. */
export function selectTargets(db: Executor, condition: SQL | undefined) {
  return db
    .select({ ...basicColumns, planRow: planColumns })
    .from(organisations)
    .leftJoin(organisationPlans, eq(organisationPlans.organisationId, organisations.id))
    .where(and(condition, isVerified()));
}

type Row = Awaited<ReturnType<typeof selectTargets>>[number];

export function targetFrom({ id, slug, name, planRow, ...status }: Row): Target {
  return { organisationId: id, organisation: { id, slug, name }, approval: approvalOf(status), planRow };
}
